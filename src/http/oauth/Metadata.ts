import { Effect } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import * as LocalIds from "../../services/federation/LocalIds.ts"
import { ServerConfig } from "../../services/instance/ServerConfig.ts"
import * as Scopes from "../../services/oauth/Scopes.ts"
import { Access } from "../guard/Access.ts"
import { group } from "../guard/Group.ts"
import { Guard } from "../guard/Guard.ts"
import * as Reply from "../guard/Reply.ts"
import { docsPath } from "../html/PagePaths.ts"
import { json } from "../wire/Keys.ts"
import { ServerMetadata } from "../wire/OAuth.ts"

export class MetadataGroup extends HttpApiGroup.make("oauthMetadata")
  .add(
    HttpApiEndpoint.get("metadata", "/.well-known/oauth-authorization-server", { success: ServerMetadata })
      .annotate(Access, Access.anyone)
  )
  .middleware(Guard)
{}

/** Metadata of the authorization server (RFC 8414). */
export const layer = group(
  MetadataGroup,
  Effect.fn(function*(handlers) {
    const { publicUrl } = yield* ServerConfig
    const metadata = json<ServerMetadata>({
      issuer: `${publicUrl}/`,
      authorizationEndpoint: `${publicUrl}/oauth/authorize`,
      tokenEndpoint: `${publicUrl}/oauth/token`,
      revocationEndpoint: `${publicUrl}/oauth/revoke`,
      introspectionEndpoint: `${publicUrl}/oauth/introspect`,
      userinfoEndpoint: `${publicUrl}/oauth/userinfo`,
      appRegistrationEndpoint: `${publicUrl}/api/v1/apps`,
      activitypubAccountPortability: LocalIds.portabilityAuthorization({ publicUrl }),
      serviceDocumentation: publicUrl + docsPath,
      scopesSupported: Scopes.all,
      responseTypesSupported: ["code"],
      responseModesSupported: ["query", "fragment", "form_post"],
      grantTypesSupported: ["authorization_code", "client_credentials"],
      tokenEndpointAuthMethodsSupported: ["client_secret_basic", "client_secret_post"],
      codeChallengeMethodsSupported: ["S256"]
    })
    return handlers.handleAll({ metadata: () => Effect.succeed(Reply.json(metadata)) })
  })
)
