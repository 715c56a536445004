import { Cause, Effect, Layer, Option } from "effect"
import { HttpRouter, HttpServerError, HttpServerRequest } from "effect/http"
import { ServerConfig } from "../../services/instance/ServerConfig.ts"
import { remoteFilesPath } from "../../services/instance/Urls.ts"
import { BrowserSessions } from "./BrowserSessions.ts"
import { addressOf } from "./ClientAddresses.ts"
import { isStreaming } from "./Handshake.ts"
import { countInMemory, type LimitName, Limits, pagingClaims } from "./Limits.ts"
import * as Reply from "./Reply.ts"

/** Documents that other servers, monitors, crawlers and feed readers request. */
const documents =
  /^\/(?:\.well-known\/|nodeinfo\/|health$|metrics$|robots\.txt$|sitemap\.xml$|(?:@|tags\/)[^/]+\/feed\.(?:rss|atom|json)$)/
/** Paths that other servers deliver to and read from. */
const federation = /^\/(?:inbox$|actor(?:\/|$)|users\/|ap\/users\/|contexts\/|emojis\/)/
const files = /^\/(?:system|assets|avatars|headers)\//
/** API endpoints, whose limits the guard spends. */
const guarded = /^\/(?:api\/(?:v\d|oembed$)|oauth\/(?:token|revoke|introspect|userinfo)(?:\/|$))/

/** Staff pages, of which staff open many; a request without a session is refused without a query. */
const staff = /^\/admin(?:\/|$)/

/** Returns the address limit of a path; undefined if the guard limits it. */
export const limitOf = (path: string): LimitName | undefined => {
  if (isStreaming(path)) return "streamAddress"
  if (guarded.test(path)) return undefined
  if (path.startsWith(`${remoteFilesPath}/`) || files.test(path)) return "fileAddress"
  if (staff.test(path)) return "staffAddress"
  if (federation.test(path)) return "federationAddress"
  return documents.test(path) ? "documentAddress" : "pageAddress"
}

/** Limit of paths below the API that have no endpoint, and therefore no guard. */
const unknown: LimitName = "documentAddress"

const isUnrouted = (cause: Cause.Cause<unknown>) =>
  cause.reasons.some((reason) =>
    Cause.isFailReason(reason) && reason.error instanceof HttpServerError.HttpServerError &&
    reason.error.reason._tag === "RouteNotFound"
  )

/**
 * Limits all paths outside of the API: pages, files, documents, inboxes, streams and unknown paths. The limits of
 * addresses are far above any normal use, so each node counts alone.
 */
export const layer = HttpRouter.middleware(
  Effect.gen(function*() {
    const { rateLimits } = yield* ServerConfig
    const limits = Limits.make(countInMemory())
    const shared = yield* Limits
    const sessions = yield* BrowserSessions
    /**
     * Spends the limit of pages: a member's requests count for the account, as in the API, because many members may
     * share an address. A cookie without a session counts as a visitor.
     */
    const spentOnPage = Effect.fnUntraced(function*(request: HttpServerRequest.HttpServerRequest) {
      const address = addressOf(request)
      if (sessions.secretIn(request) !== undefined) {
        yield* limits.spend([{ limit: "memberAddress", key: address }])
        const session = Option.getOrUndefined(yield* sessions.of(request))
        if (session !== undefined) {
          const key = String(session.accountId)
          return yield* shared.spend([{ limit: "apiUser", key }, ...pagingClaims(request.url, key)])
        }
      }
      return yield* limits.spend([{ limit: "pageAddress", key: address }])
    })
    return (handler) =>
      rateLimits
        ? Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => {
          const limit = limitOf(request.url.split("?", 1)[0] ?? "")
          const withLimit = (limit: LimitName, next: typeof handler) =>
            Effect.matchEffect(
              limit === "pageAddress" ? spentOnPage(request) : limits.spend([{ limit, key: addressOf(request) }]),
              {
                onFailure: (error) => Effect.succeed(Reply.error(error)),
                onSuccess: () => next
              }
            )
          if (limit !== undefined) return withLimit(limit, handler)
          return Effect.catchCauseIf(handler, isUnrouted, (cause) => withLimit(unknown, Effect.failCause(cause)))
        })
        : handler
  }),
  { global: true }
).pipe(Layer.provide(BrowserSessions.layer))
