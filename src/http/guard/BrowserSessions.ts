import { Context, Effect, Layer, Option, Redacted } from "effect"
import type { HttpServerRequest } from "effect/http"
import { type Session, Sessions } from "../../services/identity/Sessions.ts"
import { ServerConfig } from "../../services/instance/ServerConfig.ts"

type Request = Pick<HttpServerRequest.HttpServerRequest, "cookies" | "source">

/** Browser sessions of requests; each request reads its session once. */
export class BrowserSessions extends Context.Service<BrowserSessions, {
  /** Prefix of our cookies' names. */
  readonly prefix: string
  /** Secret of the session cookie, if the browser sent one; it may belong to no session. */
  readonly secretIn: (request: Request) => Redacted.Redacted | undefined
  readonly of: (request: Request) => Effect.Effect<Option.Option<Session>>
}>()("murmuration/http/guard/BrowserSessions") {
  static readonly layer = Layer.effect(
    BrowserSessions,
    Effect.gen(function*() {
      const { publicUrl } = yield* ServerConfig
      const sessions = yield* Sessions
      // With this prefix a browser accepts the cookie from this very host only, not from a sibling domain.
      const prefix = publicUrl.startsWith("https:") ? "__Host-" : ""
      const secretIn = ({ cookies }: Request) => {
        const secret = cookies[`${prefix}session`]
        return secret === undefined || secret === "" ? undefined : Redacted.make(secret)
      }
      const known = new WeakMap<object, Option.Option<Session>>()
      const of = Effect.fnUntraced(function*(request: Request) {
        const before = known.get(request.source)
        if (before !== undefined) return before
        const secret = secretIn(request)
        const found = secret === undefined ? Option.none<Session>() : yield* sessions.find(secret)
        known.set(request.source, found)
        return found
      })
      return BrowserSessions.of({ prefix, secretIn, of })
    })
  )
}
