import { Effect, Layer } from "effect"
import { IpNetwork } from "effect/net"
import { ServerConfig } from "../../services/instance/ServerConfig.ts"
import { HostPolicy } from "../../services/outbound/HostPolicy.ts"
import { Outbound } from "../../services/outbound/Outbound.ts"
import * as UndiciTransport from "./UndiciTransport.ts"

const networks = (...texts: ReadonlyArray<string>) => texts.map((text) => IpNetwork.fromStringUnsafe(text))

/** Any address, also without TLS. */
export const anywhere = networks("0.0.0.0/0", "::/0")

/** Networks of an operator, in which a service may have no TLS: private, shared, and loopback (RFC 1918, 6598, 4193). */
export const privateNetworks = networks(
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "172.16.0.0/12",
  "192.168.0.0/16",
  "::1/128",
  "fc00::/7"
)

/**
 * Guarded outbound requests to hosts that the operator configured, which may be in the `allowed` networks. No other
 * host is reachable through it, and all size and time limits hold.
 */
export const outboundTo = (allowed: ReadonlyArray<IpNetwork.IpNetwork>, isOpen: (host: string) => boolean) =>
  Outbound.layer.pipe(
    Layer.provide(UndiciTransport.layer),
    Layer.provide(Layer.succeed(HostPolicy, { isOpen: (host) => Effect.succeed(isOpen(host)) })),
    Layer.provide(Layer.effect(
      ServerConfig,
      Effect.map(ServerConfig, (config) => ({
        ...config,
        outboundAllow: [...allowed, ...config.outboundAllow]
      }))
    )),
    Layer.fresh
  )
