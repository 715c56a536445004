import { type Cause, Deferred, Effect, Exit, type Fiber, Queue, Schedule, Schema, Stream } from "effect"
import { HttpServerError, HttpServerRequest, HttpServerResponse } from "effect/http"
import { traced } from "../../services/runtime/Traced.ts"
import * as Reply from "../guard/Reply.ts"
import { Flag } from "../wire/Params.ts"
import * as Authentication from "./Authentication.ts"
import { queryOf } from "./Authentication.ts"
import { type Channel, channelOf, nameAtPath } from "./Channels.ts"
import { Hub } from "./Hub.ts"
import type { Connection } from "./Registry.ts"
import type { StreamEvent } from "./StreamEvent.ts"
import { waitingBytesMax } from "./WebSockets.ts"

/** Interval of keep-alives on an idle connection, so that no proxy closes it. */
const keepAlivePeriod = "15 seconds"
/** Time that a client has to read the remaining events after its token has ended. */
const goodbyeTimeout = "500 millis"

const encoder = new TextEncoder()
const greeting = encoder.encode(":)\n")
const keepAlive = encoder.encode(":thump\n\n")
const isTrue = (given: string | null) => Schema.decodeUnknownSync(Flag)(given) === true

/** Headers of responses of server-sent events, and of refusals. */
export const streamHeaders = {
  "cache-control": "private, no-store",
  // Reverse proxies that buffer responses would hold events back.
  "x-accel-buffering": "no"
}

/** Caller of a stream, as the hub counts and checks it. */
type StreamCaller = Omit<Connection, "send" | "end">

/**
 * Makes a function that opens a response of server-sent events for a caller and its channels. `bytesOf` returns the
 * bytes of an event, or undefined for one that the caller does not get.
 */
export const makeOpening = Effect.gen(function*() {
  const hub = yield* Hub
  return Effect.fnUntraced(function*(
    caller: StreamCaller,
    channels: ReadonlyArray<Channel>,
    bytesOf: (event: StreamEvent, channel: Channel) => Uint8Array | undefined
  ) {
    const cut = yield* Effect.withFiber((fiber) => Effect.succeed(cutOf(fiber)))
    const outbox = yield* makeOutbox(cut)
    const ended = yield* Deferred.make<void>()
    const attendance = yield* hub.connect({
      ...caller,
      send: (event, channel) => {
        const bytes = bytesOf(event, channel)
        if (bytes !== undefined) outbox.put(bytes)
      },
      end: () => Deferred.doneUnsafe(ended, Exit.void)
    })
    outbox.put(greeting)
    yield* Effect.forEach(channels, attendance.subscribe, { discard: true })
    yield* Effect.forkScoped(
      Effect.schedule(Effect.sync(() => outbox.put(keepAlive)), Schedule.spaced(keepAlivePeriod))
    )
    yield* Effect.forkScoped(
      Deferred.await(ended).pipe(
        Effect.andThen(Effect.sync(outbox.end)),
        Effect.andThen(Effect.sleep(goodbyeTimeout)),
        Effect.andThen(Effect.sync(cut))
      )
    )
    return HttpServerResponse.stream(outbox.bytes, { contentType: "text/event-stream", headers: streamHeaders })
  })
})

/** Serves a channel as server-sent events, at its path below `/api/v1/streaming/`. */
export const make = Effect.gen(function*() {
  const authenticate = yield* Authentication.make
  const open = yield* makeOpening

  return traced("EventStreams.make")(
    function*(path: string) {
      const request = yield* HttpServerRequest.HttpServerRequest
      const query = queryOf(request)
      const name = yield* Effect.fromResult(nameAtPath(path, isTrue(query.get("only_media"))))
      const listener = yield* authenticate(request)
      const channel = yield* Effect.fromResult(channelOf(
        name,
        { tag: query.get("tag") ?? undefined, list: query.get("list") ?? undefined },
        listener
      ))
      return yield* open(listener, [channel], (event) => event.serverSent)
    },
    Effect.catchTag(
      "StreamRefused",
      ({ message, status }) => Effect.succeed(Reply.plainError(status, message, streamHeaders))
    )
  )
})

/** Aborts the connection, as if the client had, whether or not it reads. */
const cutOf = (fiber: Fiber.Fiber<unknown, unknown>) => () =>
  fiber.interruptUnsafe(undefined, HttpServerError.ClientAbort.annotation)

/** Queue of bytes for the client; the connection is aborted if more than `waitingBytesMax` are pending. */
const makeOutbox = Effect.fnUntraced(function*(cut: () => void) {
  const queue = yield* Queue.unbounded<Uint8Array, Cause.Done>()
  let waiting = 0
  return {
    put: (bytes: Uint8Array) => {
      if (waiting > 0 && waiting + bytes.length > waitingBytesMax) return cut()
      if (Queue.offerUnsafe(queue, bytes)) waiting += bytes.length
    },
    end: () => Queue.endUnsafe(queue),
    bytes: Stream.fromQueue(queue).pipe(Stream.tap((bytes) => Effect.sync(() => waiting -= bytes.length)))
  }
})
