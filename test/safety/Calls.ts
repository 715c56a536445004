import { Effect, Queue } from "effect"
import { WebSocket } from "ws"
import { type Person, type RequestOptions, TestServer } from "../support/Server.ts"

export interface Reply {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  // Tests read bodies of every shape.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly body: any
}

/** Sends a request as a user or visitor, and reads the response. */
export const call = Effect.fnUntraced(function*(
  method: string,
  path: string,
  by?: Pick<Person, "token">,
  json?: unknown,
  options: RequestOptions = {}
) {
  const { fetch } = yield* TestServer
  const response = yield* fetch(path, {
    ...options,
    method,
    ...(by === undefined ? {} : { token: by.token }),
    ...(json === undefined ? {} : { json })
  })
  const text = yield* Effect.promise(() => response.text())
  const isJson = response.headers.get("content-type")?.includes("json") === true && text !== ""
  const reply: Reply = {
    status: response.status,
    headers: response.headers,
    text,
    body: isJson ? JSON.parse(text) : undefined
  }
  return reply
})

export const get = (path: string, by?: Pick<Person, "token">) => call("GET", path, by)
export const post = (path: string, by: Pick<Person, "token">, json: unknown = {}) => call("POST", path, by, json)

export const follow = (by: Person, target: Person) => post(`/api/v1/accounts/${target.accountId}/follow`, by)

/** Returns the ids of a list. */
export const idsAt = (path: string, by?: Person) =>
  Effect.map(get(path, by), ({ body }): ReadonlyArray<string> => body.map(({ id }: { readonly id: string }) => id))

export interface StreamEvent {
  readonly stream: ReadonlyArray<string>
  readonly event: string
  readonly payload: string
}

/** Opens a WebSocket for these channels; it closes with the scope. */
export const listen = Effect.fnUntraced(function*(
  by: Person,
  ...channels: ReadonlyArray<{ readonly stream: string; readonly tag?: string }>
) {
  const { baseUrl } = yield* TestServer
  const events = yield* Queue.unbounded<StreamEvent>()
  const socket = new WebSocket(`${baseUrl.replace("http", "ws")}/api/v1/streaming`, [by.token])
  yield* Effect.addFinalizer(() => Effect.sync(() => socket.terminate()))
  socket.on("message", (data) => Queue.offerUnsafe(events, JSON.parse(String(data))))
  yield* Effect.callback<void>((resume) => void socket.on("open", () => resume(Effect.void)))
  for (const channel of channels) socket.send(JSON.stringify({ type: "subscribe", ...channel }))
  // The server processes messages in order: the error for the last, invalid one shows that all subscriptions are
  // active.
  const acknowledged = yield* Queue.unbounded<void>()
  socket.once("message", () => Queue.offerUnsafe(acknowledged, undefined))
  socket.send(JSON.stringify({ type: "subscribe", stream: "nothing of the kind" }))
  yield* Queue.take(acknowledged)
  yield* Queue.clear(events)
  const next = Queue.take(events)
  /** Returns every event up to the one that contains the text. */
  const until = (text: string): Effect.Effect<ReadonlyArray<StreamEvent>> =>
    Effect.flatMap(
      next,
      (event) =>
        event.payload.includes(text) ? Effect.succeed([event]) : Effect.map(until(text), (more) => [event, ...more])
    )
  return { next, until }
})
