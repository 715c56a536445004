import { Effect, Layer } from "effect"
import { ServerConfig } from "../services/instance/ServerConfig.ts"
import { IdentityProvider } from "../services/oidc/IdentityProvider.ts"
import * as OpenIdProvider from "../services/oidc/OpenIdProvider.ts"
import { outboundTo, privateNetworks } from "./outbound/ConfiguredHosts.ts"

/** The configured OpenID provider, if any. Its document may name endpoints on other hosts. */
export const layer = Layer.unwrap(Effect.map(ServerConfig, ({ provider }) =>
  provider === undefined
    ? Layer.succeed(IdentityProvider, undefined)
    : Layer.effect(IdentityProvider, OpenIdProvider.make(provider)).pipe(
      Layer.provide(outboundTo(privateNetworks, () => true))
    )))
