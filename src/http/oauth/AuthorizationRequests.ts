import { Context, Effect, Layer, Option, Schema } from "effect"
import { type App, Apps } from "../../services/oauth/Apps.ts"
import { formTarget, isRegistered } from "../../services/oauth/RedirectUris.ts"
import * as Scopes from "../../services/oauth/Scopes.ts"
import { traced } from "../../services/runtime/Traced.ts"
import { challengeMethod, missingText, RefusalCode, textOf } from "./Refusals.ts"

/** Maximum characters of an app's state (RFC 6749, 4.1.1 sets no limit). */
const stateCharactersMax = 4_096

/**
 * Destination of a response: a redirect URI that the app registered. `responseMode` says whether its parameters are in
 * the query, in the fragment, or posted by the browser.
 */
const Return = Schema.Struct({
  redirectUri: Schema.String,
  responseMode: Schema.Literals(["query", "fragment", "form_post"]),
  state: Schema.UndefinedOr(Schema.String)
})
export type Return = typeof Return.Type
const isMode = Schema.is(Return.fields.responseMode)

/** Authorization request of an app (RFC 6749, 4.1.1; RFC 7636). */
export interface AuthorizationRequest extends Return {
  readonly app: App
  readonly scopes: ReadonlyArray<string>
  readonly codeChallenge: string | undefined
}

/**
 * Invalid authorization request. Without `to` the redirect URI itself is in doubt, and the user is told instead of the
 * app.
 */
export class RefusedRequest extends Schema.TaggedError<RefusedRequest>()("RefusedRequest", {
  code: RefusalCode,
  text: Schema.String,
  to: Schema.optionalKey(Return)
}) {}

const refused = (
  code: RefusalCode,
  { text = textOf(code), to }: { readonly text?: string; readonly to?: Return } = {}
) => new RefusedRequest({ code, text, ...(to !== undefined && { to }) })

/** Reads authorization requests, from a URL and again from the consent page's form. */
export class AuthorizationRequests extends Context.Service<AuthorizationRequests, {
  readonly read: (parameters: URLSearchParams) => Effect.Effect<AuthorizationRequest, RefusedRequest>
  /**
   * Returns the CSP source that the pages on the way to an app may redirect to; `path` is a path of this server, with
   * its query.
   */
  readonly formTarget: (path: string) => Effect.Effect<string | undefined>
}>()("murmuration/http/oauth/AuthorizationRequests") {
  static readonly layer = Layer.effect(
    AuthorizationRequests,
    Effect.gen(function*() {
      const apps = yield* Apps

      const known = Effect.fnUntraced(function*(parameters: URLSearchParams) {
        const clientId = parameters.get("client_id")
        if (!clientId) return yield* refused("invalid_request", { text: missingText("client_id") })
        const app = Option.getOrUndefined(yield* apps.findClient(clientId))
        if (app === undefined) return yield* refused("invalid_client")
        const redirectUri = parameters.get("redirect_uri")
        if (!redirectUri) return yield* refused("invalid_request", { text: missingText("redirect_uri") })
        if (!isRegistered(app.redirectUris, redirectUri)) return yield* refused("invalid_redirect_uri")
        // The state is returned in a URL, and apps keep a random word in it.
        if ((parameters.get("state")?.length ?? 0) > stateCharactersMax) {
          return yield* refused("invalid_request", { text: "The state is too long." })
        }
        return { app, redirectUri }
      })

      const read = traced("AuthorizationRequests.read")(function*(parameters: URLSearchParams) {
        const { app, redirectUri } = yield* known(parameters)
        const asked = parameters.get("response_mode") || "query"
        const to = {
          redirectUri,
          state: parameters.get("state") ?? undefined,
          responseMode: isMode(asked) ? asked : "query"
        }
        if (!isMode(asked)) {
          return yield* refused("invalid_request", { text: "The response mode is not supported.", to })
        }
        const type = parameters.get("response_type")
        if (!type) return yield* refused("invalid_request", { text: missingText("response_type"), to })
        if (type !== "code") return yield* refused("unsupported_response_type", { to })
        const written = parameters.get("scope")
        const scopes = written ? Scopes.parse(written) : Scopes.defaultScopes
        if (!Scopes.withinRegistered(app.scopes, scopes)) return yield* refused("invalid_scope", { to })
        const codeChallenge = parameters.get("code_challenge") || undefined
        const method = parameters.get("code_challenge_method") || undefined
        // Without a method PKCE means "plain", which shows the verifier to everyone who sees the request.
        if (codeChallenge === undefined ? method !== undefined && method !== "S256" : method !== "S256") {
          return yield* refused("invalid_request", { text: challengeMethod, to })
        }
        if (codeChallenge !== undefined && !/^[\w-]{43}$/.test(codeChallenge)) {
          return yield* refused("invalid_request", { text: "The code_challenge is not valid.", to })
        }
        return { ...to, app, scopes, codeChallenge }
      })

      const targetOf = traced("AuthorizationRequests.formTarget")(function*(path: string) {
        const [page, query = ""] = path.split("?")
        if (page !== "/oauth/authorize") return undefined
        const request = yield* Effect.option(known(new URLSearchParams(query)))
        return Option.isSome(request) ? formTarget(request.value.redirectUri) : undefined
      })

      return AuthorizationRequests.of({ read, formTarget: targetOf })
    })
  )
}
