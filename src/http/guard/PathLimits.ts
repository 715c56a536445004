import { Cause, Effect } from "effect"
import { HttpRouter, HttpServerError, HttpServerRequest } from "effect/http"
import { ServerConfig } from "../../services/instance/ServerConfig.ts"
import { remoteFilesPath } from "../../services/instance/Urls.ts"
import { addressOf } from "./ClientAddresses.ts"
import { isStreaming } from "./Handshake.ts"
import { countInMemory, type LimitName, Limits } from "./Limits.ts"
import * as Reply from "./Reply.ts"

/** What other servers and monitors ask for. */
const documents = /^\/(?:\.well-known\/|nodeinfo\/|health$|metrics$)/
/** Where other servers bring what they have, and what they read of ours. */
const federation = /^\/(?:inbox$|actor(?:\/|$)|users\/|ap\/users\/|contexts\/|emojis\/)/
const files = /^\/(?:system|assets|avatars|headers)\//
/** Endpoints of the API have limits of their own, which the guard spends. */
const guarded = /^\/(?:api\/(?:v\d|oembed$)|oauth\/(?:token|revoke|introspect|userinfo)(?:\/|$))/

/** Where staff look through many pages; who has no session is told so without a query. */
const staff = /^\/admin(?:\/|$)/

/** The limit of an address for a path; undefined where the guard sees to it. */
export const limitOf = (path: string): LimitName | undefined => {
  if (isStreaming(path)) return "streamAddress"
  if (guarded.test(path)) return undefined
  if (path.startsWith(`${remoteFilesPath}/`) || files.test(path)) return "fileAddress"
  if (staff.test(path)) return "staffAddress"
  if (federation.test(path)) return "federationAddress"
  return documents.test(path) ? "documentAddress" : "pageAddress"
}

/** Paths below the API that no endpoint has: the guard sees none of them. */
const unknown: LimitName = "documentAddress"

const isUnrouted = (cause: Cause.Cause<unknown>) =>
  cause.reasons.some((reason) =>
    Cause.isFailReason(reason) && reason.error instanceof HttpServerError.HttpServerError &&
    reason.error.reason._tag === "RouteNotFound"
  )

/**
 * Limits of everything that is no endpoint of the API: pages, files, documents, inboxes, streams and paths that are not there.
 * They are far above what anybody needs, so each node counts for itself and asks nobody.
 */
export const layer = HttpRouter.middleware(
  Effect.gen(function*() {
    const { rateLimits } = yield* ServerConfig
    const limits = Limits.make(countInMemory())
    return (handler) =>
      rateLimits
        ? Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => {
          const limit = limitOf(request.url.split("?", 1)[0] ?? "")
          const spent = (limit: LimitName, next: typeof handler) =>
            Effect.matchEffect(limits.spend([{ limit, key: addressOf(request) }]), {
              onFailure: (error) => Effect.succeed(Reply.error(error)),
              onSuccess: () => next
            })
          if (limit !== undefined) return spent(limit, handler)
          return Effect.catchCauseIf(handler, isUnrouted, (cause) => spent(unknown, Effect.failCause(cause)))
        })
        : handler
  }),
  { global: true }
)
