import { Cause, Effect, Layer, Random, References } from "effect"
import { HttpMiddleware, HttpRouter, HttpServerError, HttpServerRequest, HttpServerResponse } from "effect/http"
import { isSqlError } from "effect/sql/SqlError"
import { ServerTitle } from "../services/instance/ServerTitle.ts"
import { Catalogs } from "../services/languages/Catalogs.ts"
import { logFailure, withRoute } from "./guard/FailureResponses.ts"
import { plainUrl } from "./guard/PlainUrls.ts"
import * as Reply from "./guard/Reply.ts"
import { errorPage } from "./html/ErrorPage.ts"
import { inLanguage } from "./languages/TranslatedErrors.ts"

/**
 * Paths whose responses scripts of any origin may read (operations.md section 0, "CORS"); cookies never count there.
 */
const shared = /^\/(api\/|oauth\/(token|revoke|userinfo)$|\.well-known\/|nodeinfo\/|@[^/]+$|users\/[^/]+$)/

const exposedHeaders = [
  "Link",
  "Mastodon-Async-Refresh",
  "X-RateLimit-Limit",
  "X-RateLimit-Remaining",
  "X-RateLimit-Reset",
  "X-Request-Id"
]

/** Responds to CORS preflights (Fetch, section 3.2.2). */
const preflights = HttpMiddleware.cors({
  allowedMethods: ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"],
  exposedHeaders,
  maxAge: 86_400
})
/** CORS headers of all other shared responses. */
const readable = {
  "access-control-allow-origin": "*",
  "access-control-expose-headers": exposedHeaders.join(",")
}

/**
 * Response where no handler made one: unknown paths, unavailable storage and internal errors, each as JSON with its status.
 */
const causeResponse = (cause: Cause.Cause<unknown>) => {
  for (const reason of cause.reasons) {
    const error = Cause.isFailReason(reason) ? reason.error : Cause.isDieReason(reason) ? reason.defect : undefined
    if (HttpServerResponse.isHttpServerResponse(error)) return Effect.succeed(error)
    if (isSqlError(error)) {
      return Effect.andThen(withRoute(Effect.logWarning("the database did not respond", cause)), Reply.unavailable)
    }
    if (error instanceof HttpServerError.HttpServerError) {
      if (error.reason._tag === "RouteNotFound") return Effect.succeed(notFound)
      if (error.reason._tag === "RequestParseError") {
        return Effect.succeed(Reply.plainError(400, "Bad Request", noStore))
      }
    }
  }
  if (Cause.hasInterruptsOnly(cause)) return Effect.failCause(cause)
  return Effect.andThen(
    logFailure(cause),
    Effect.succeed(Reply.plainError(500, "An unexpected error occurred", noStore))
  )
}

const noStore = { "cache-control": "private, no-store" }
const notFound = Reply.plainError(404, "Not Found", noStore)

/** Accepted request ids from a proxy in front. */
const givenId = /^[\w-]{8,64}$/

/** Names every request, in its response and in the log, so that a user's report can be traced. */
const naming = Effect.map(Random.nextIntBetween(36 ** 5, 36 ** 6), (chance) => {
  const process = chance.toString(36)
  let count = 0
  const nextName = () => `${process}-${(count++).toString(36)}`
  return ({ headers }: HttpServerRequest.HttpServerRequest) => {
    const given = headers["x-request-id"]
    return given !== undefined && givenId.test(given) ? given : nextName()
  }
})

/** Wraps the whole router: request ids, CORS headers, and errors in the shape that clients expect. */
export const layer = HttpRouter.middleware(
  Effect.gen(function*() {
    const nameOf = yield* naming
    const catalogs = yield* Catalogs
    const title = yield* ServerTitle
    return (handler) => {
      const responded = Effect.catchCause(handler, causeResponse)
      return Effect.flatMap(HttpServerRequest.HttpServerRequest, (sent) => {
        const url = plainUrl(sent.url)
        const request = url === sent.url ? sent : sent.modify({ url })
        const name = nameOf(request)
        const isShared = shared.test(pathOf(request.url))
        const plain = request === sent
          ? responded
          : Effect.provideService(responded, HttpServerRequest.HttpServerRequest, request)
        const named = Effect.provideService(plain, References.CurrentLogAnnotations, { request: name })
        return Effect.flatMap(isShared && request.method === "OPTIONS" ? preflights(named) : named, (handled) => {
          // Sets all headers in one copy: there are many, and API responses cost little more than the copy.
          const headers = isShared ? { ...readable, "x-request-id": name } : { "x-request-id": name }
          const response = HttpServerResponse.setHeaders(handled, headers)
          if (response.status < 400) return Effect.succeed(response)
          const page = errorPage(catalogs, request, response)
          // Only pages need the title: programs' errors cost no query.
          return page === undefined
            ? Effect.succeed(inLanguage(catalogs, request, response))
            : Effect.map(title.current, page)
        })
      })
    }
  }),
  { global: true }
).pipe(Layer.provide(ServerTitle.layer))

const pathOf = (url: string): string => {
  const end = url.indexOf("?")
  return end === -1 ? url : url.slice(0, end)
}
