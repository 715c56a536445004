import { Effect, Option, Redacted, Schema } from "effect"
import { HttpServerRequest } from "effect/http"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { type App, Apps } from "../../services/oauth/Apps.ts"
import { Grants } from "../../services/oauth/Grants.ts"
import * as Scopes from "../../services/oauth/Scopes.ts"
import { Tokens } from "../../services/oauth/Tokens.ts"
import { traced } from "../../services/runtime/Traced.ts"
import { Access } from "../guard/Access.ts"
import { group } from "../guard/Group.ts"
import { Guard } from "../guard/Guard.ts"
import * as Reply from "../guard/Reply.ts"
import { json } from "../wire/Keys.ts"
import { Introspection, TokenLookup, type TokenRequest, TokenRequest as TokenRequestSchema } from "../wire/OAuth.ts"
import { Token } from "../wire/Token.ts"
import { authenticated } from "./ClientSecrets.ts"
import { missingText, refuse } from "./Refusals.ts"
import { tokenJson } from "./TokenJson.ts"

export class OAuthGroup extends HttpApiGroup.make("oauth")
  .add(
    HttpApiEndpoint.post("token", "/oauth/token", { payload: TokenRequestSchema, success: Token })
      .annotate(Access, Access.anyone),
    HttpApiEndpoint.post("revoke", "/oauth/revoke", { payload: TokenLookup, success: Schema.Struct({}) })
      .annotate(Access, Access.anyone),
    HttpApiEndpoint.post("introspect", "/oauth/introspect", { payload: TokenLookup, success: Introspection })
      .annotate(Access, Access.anyone)
  )
  .middleware(Guard)
{}

/** Endpoints that apps call with their secret (RFC 6749, 7009, 7662). */
export const layer = group(
  OAuthGroup,
  Effect.fn(function*(handlers) {
    const apps = yield* Apps
    const grants = yield* Grants
    const tokens = yield* Tokens

    const byCode = Effect.fnUntraced(function*(app: App, { code, codeVerifier, redirectUri }: TokenRequest) {
      if (!code) return refuse("invalid_request", missingText("code"))
      if (!redirectUri) return refuse("invalid_request", missingText("redirect_uri"))
      const token = grants.exchange({ appId: app.id, code, redirectUri, codeVerifier: codeVerifier ?? undefined })
      return yield* Effect.match(token, {
        onFailure: () => refuse("invalid_grant"),
        onSuccess: (issued) => Reply.json(tokenJson(issued))
      })
    })

    const byClient = Effect.fnUntraced(function*(app: App, { scope }: TokenRequest) {
      const scopes = scope ? Scopes.parse(scope) : Scopes.defaultScopes
      if (!Scopes.withinRegistered(app.scopes, scopes)) return refuse("invalid_scope")
      return Reply.json(tokenJson(yield* tokens.issue({ appId: app.id }, scopes)))
    })

    const grantsByType = new Map([["authorization_code", byCode], ["client_credentials", byClient]])

    /** Returns the app that asks about a token: an authenticated client, or the app of a valid bearer token. */
    const asker = Effect.fnUntraced(function*(parameters: typeof TokenLookup.Type) {
      const app = yield* authenticated(apps, parameters)
      if (Option.isSome(app)) return app.value.id
      const { headers } = yield* HttpServerRequest.HttpServerRequest
      const bearer = /^bearer (.+)$/i.exec(headers["authorization"] ?? "")?.[1]
      if (bearer === undefined) {
        return parameters.clientId || headers["authorization"] !== undefined
          ? refuse("invalid_client")
          : refuse("invalid_request")
      }
      const token = Option.getOrUndefined(yield* tokens.find(Redacted.make(bearer.trim())))
      return token === undefined || token.revoked || token.appId === undefined ? refuse("invalid_token") : token.appId
    })

    return handlers.handleAll({
      token: traced("oauth.token")(function*({ payload }) {
        if (!payload.grantType) return refuse("invalid_request", missingText("grant_type"))
        const grant = grantsByType.get(payload.grantType)
        if (grant === undefined) return refuse("unsupported_grant_type")
        const app = yield* authenticated(apps, payload)
        return Option.isSome(app) ? yield* grant(app.value, payload) : refuse("invalid_client")
      }),
      revoke: traced("oauth.revoke")(function*({ payload }) {
        const app = Option.getOrUndefined(yield* authenticated(apps, payload))
        if (app === undefined) return refuse("unauthorized_client")
        const token = Option.getOrUndefined(yield* tokens.find(Redacted.make(payload.token ?? "")))
        if (token === undefined) return Reply.empty
        if (token.appId !== app.id) return refuse("unauthorized_client")
        yield* tokens.revoke({ tokenIds: [token.tokenId] })
        return Reply.empty
      }),
      introspect: traced("oauth.introspect")(function*({ payload }) {
        const appId = yield* asker(payload)
        if (typeof appId !== "bigint") return appId
        if (!payload.token) return refuse("invalid_request", missingText("token"))
        const token = Option.getOrUndefined(yield* tokens.find(Redacted.make(payload.token)))
        const app = Option.getOrUndefined(yield* apps.find(appId))
        if (token === undefined || app === undefined || token.revoked || token.appId !== appId) {
          return Reply.json(json<Introspection>({ active: false }))
        }
        return Reply.json(json<Introspection>({
          active: true,
          scope: Scopes.format(token.scopes),
          clientId: app.clientId,
          tokenType: "Bearer",
          iat: Math.floor(token.createdAt.getTime() / 1000)
        }))
      })
    })
  })
)
