import { Deferred, Effect, Exit, Option, Schedule, Schema } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { withoutSlot } from "../guard/InFlight.ts"
import * as Authentication from "./Authentication.ts"
import { queryOf } from "./Authentication.ts"
import { channelOf, type ChannelParameters, refused } from "./Channels.ts"
import { type ConnectionHandle, Hub } from "./Hub.ts"
import type { EndReason } from "./Registry.ts"
import { type WebSocket, WebSockets } from "./WebSockets.ts"

/** Interval of pings; a client that did not return the last one is cut off. */
const pingPeriod = "30 seconds"

/** Close codes by reason (RFC 6455, section 7.4.1): policy violation, or going away. */
const closeCodes = {
  blocked: [1008, "Forbidden"],
  revoked: [1008, refused("badToken").message],
  stopping: [1001, "The server is restarting"]
} as const satisfies Record<EndReason, readonly [code: number, text: string]>
const unsupportedData = 1003
const noBinary = "The mastodon streaming server does not support binary messages"

/** A repeated parameter counts by its first value. */
const First = Schema.Union([Schema.String, Schema.NonEmptyArray(Schema.String)])
const first = (given: typeof First.Type | undefined) => typeof given === "string" ? given : given?.[0]

/** Request of a client (streaming.md section 3, "Client to server"). */
const Request = Schema.fromJsonString(Schema.Struct({
  type: Schema.Literals(["subscribe", "unsubscribe"]),
  stream: First,
  tag: Schema.optionalKey(First),
  list: Schema.optionalKey(First)
}))
const decode = Schema.decodeUnknownOption(Request)

const encoder = new TextEncoder()
const frame = (value: unknown) => encoder.encode(JSON.stringify(value))
const unsubscribeFailed = frame({ error: "Error unsubscribing from channel" })

/** Never sent, because its connection is already closed. */
const over = HttpServerResponse.empty({ status: 101 })

/** Serves a WebSocket, on which a client subscribes to any number of channels (S-007). */
export const make = Effect.gen(function*() {
  const authenticate = yield* Authentication.make
  const hub = yield* Hub
  const sockets = yield* WebSockets

  return Effect.gen(function*() {
    const request = yield* HttpServerRequest.HttpServerRequest
    const listener = yield* authenticate(request)
    const ended = yield* Deferred.make<EndReason>()
    let socket: WebSocket | undefined
    const attendance = yield* hub.connect({
      ...listener,
      send: (event, channel) => socket?.send(event.message(channel.label)),
      end: (reason) => Deferred.doneUnsafe(ended, Exit.succeed(reason))
    })
    const opened = socket = yield* sockets.accept
    const client: Client = { socket: opened, listener, attendance }
    const query = queryOf(request)
    const stream = query.get("stream")
    if (stream) {
      yield* subscribe(client, stream, {
        tag: query.get("tag") ?? undefined,
        list: query.get("list") ?? undefined
      })
    }
    yield* Effect.forkScoped(keepAlive(opened))
    yield* withoutSlot(Effect.raceFirst(
      Effect.forever(listen(client)),
      Effect.map(Deferred.await(ended), (reason) => {
        const [code, text] = closeCodes[reason]
        opened.close(code, text)
      })
    ))
    return over
  }).pipe(
    Effect.catchTags({
      WebSocketClosed: () => Effect.succeed(over),
      StreamRefused: ({ message, status }) =>
        Effect.succeed(HttpServerResponse.empty({ status, headers: { "x-error-message": message } }))
    }),
    Effect.scoped
  )
})

interface Client {
  readonly socket: WebSocket
  readonly listener: Authentication.Listener
  readonly attendance: ConnectionHandle
}

/** Handles the messages that have arrived. */
const listen = Effect.fnUntraced(function*(client: Client) {
  for (const message of yield* client.socket.receive) {
    if (typeof message !== "string") return client.socket.close(unsupportedData, noBinary)
    const asked = Option.getOrUndefined(decode(message))
    if (asked === undefined) continue
    const act = asked.type === "subscribe" ? subscribe : unsubscribe
    yield* act(client, first(asked.stream) ?? "", { tag: first(asked.tag), list: first(asked.list) })
  }
})

const subscribe = ({ attendance, listener, socket }: Client, name: string, parameters: ChannelParameters) =>
  Effect.fromResult(channelOf(name, parameters, listener)).pipe(
    Effect.flatMap(attendance.subscribe),
    Effect.catch(({ message, status }) => Effect.sync(() => socket.send(frame({ error: message, status }))))
  )

const unsubscribe = ({ attendance, listener, socket }: Client, name: string, parameters: ChannelParameters) =>
  Effect.fromResult(channelOf(name, parameters, listener)).pipe(
    Effect.flatMap(({ topic }) => attendance.unsubscribe(topic)),
    Effect.catch(() => Effect.sync(() => socket.send(unsubscribeFailed)))
  )

const keepAlive = (socket: WebSocket) =>
  Effect.sync(() => socket.isAlive() ? socket.ping() : socket.terminate()).pipe(
    Effect.schedule(Schedule.spaced(pingPeriod))
  )
