import { Effect, Layer } from "effect"
import { HttpRouter, HttpServerRequest } from "effect/http"
import { SessionTokens } from "../../../services/oauth/SessionTokens.ts"
import { addressOf } from "../../guard/ClientAddresses.ts"
import { webStreamPath } from "../../guard/Handshake.ts"
import * as Reply from "../../guard/Reply.ts"
import { Visitors } from "../../html/Visitors.ts"
import { queryOf } from "../../streaming/Authentication.ts"
import { channelOf, refused } from "../../streaming/Channels.ts"
import { makeOpening, streamHeaders } from "../../streaming/EventStreams.ts"
import { webEvent } from "./WebEvents.ts"

const scopes = new Set(["read"])
const nothing: ReadonlySet<string> = new Set()
const supportedEvents: ReadonlySet<string> = new Set(["marker", "notifications_dismissed", "relations"])

const make = Effect.gen(function*() {
  const open = yield* makeOpening
  const tokens = yield* SessionTokens
  const visitors = yield* Visitors

  /** Returns true if a script of our own pages asks; browsers say so. */
  const isOurs = ({ headers }: HttpServerRequest.HttpServerRequest) => {
    const site = headers["sec-fetch-site"]
    return visitors.isOurOrigin(headers["origin"]) && (site === undefined || site === "same-origin")
  }

  const stream = Effect.gen(function*() {
    const request = yield* HttpServerRequest.HttpServerRequest
    if (!isOurs(request)) return yield* refused("noToken")
    const { session } = yield* visitors.current
    if (session === undefined) return yield* refused("noToken")
    const { accountId, web } = session
    const tokenId = yield* Effect.mapError(tokens.of(session), () => refused("badToken"))
    const query = queryOf(request)
    const asking = { accountId, scopes }
    const name = query.get("channel") ?? "user"
    const parameters = { tag: query.get("tag") ?? undefined, list: query.get("list") ?? undefined }
    const shown = yield* Effect.fromResult(channelOf(name, parameters, asking))
    // Every page hears of its own account: notifications, edits and deletions.
    const own = yield* Effect.fromResult(channelOf("user", {}, asking))
    return yield* open(
      {
        accountId,
        tokenId,
        address: addressOf(request),
        exactAddress: request.remoteAddress._tag === "Some" ? request.remoteAddress.value : "",
        hearsNotifications: true,
        supportedTypes: nothing,
        supportedEvents
      },
      shown.topic === own.topic ? [own] : [own, shown],
      (event, channel) =>
        event.event === "update" && channel.topic !== shown.topic
          ? undefined
          : webEvent(event, { home: name === "user", viewer: accountId, web })
    )
  }).pipe(
    Effect.catchTag(
      "StreamRefused",
      ({ message, status }) => Effect.succeed(Reply.plainError(status, message, streamHeaders))
    )
  )
  return HttpRouter.add("GET", webStreamPath, stream)
})

/**
 * Stream of the web client, authenticated by the session's cookie: the events of the API's streams, reduced to ids. No
 * page contains a token. The stream ends with the session.
 */
export const layer = Layer.unwrap(make).pipe(Layer.provide(Visitors.layer))
