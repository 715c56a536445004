import { Effect, Layer, Option, Queue, Redacted } from "effect"
import { HttpServer } from "effect/http"
import { WebSocket } from "ws"
import { StatusViews } from "../../../src/http/render/StatusViews.ts"
import { layer as renderings } from "../../../src/http/render/StreamRenderings.ts"
import type { AccountId } from "../../../src/services/database/Ids.ts"
import { Broadcast } from "../../../src/services/events/Broadcast.ts"
import { Tokens } from "../../../src/services/oauth/Tokens.ts"
import { person } from "../../support/People.ts"
import { server } from "../../support/WebServer.ts"

export const address = Effect.map(HttpServer.HttpServer, ({ address }) => HttpServer.formatAddress(address).slice(7))

/** The server and its renderings for streams. */
export const layerStreams = Layer.satisfiesServicesType<never>()(
  Layer.merge(renderings, StatusViews.layer).pipe(Layer.provideMerge(server()))
)

/** Issues a user's token. */
export const tokenOf = Effect.fnUntraced(function*(accountId: AccountId | undefined, ...scopes: ReadonlyArray<string>) {
  const tokens = yield* Tokens
  const issued = yield* tokens.issue({ appId: undefined, accountId }, scopes.length === 0 ? ["read"] : scopes)
  return { secret: Redacted.value(issued.secret), tokenId: issued.tokenId }
})

export interface Frame {
  readonly stream?: ReadonlyArray<string>
  readonly event?: string
  readonly payload?: string
  readonly error?: string
  readonly status?: number
}

/** Opens a client's WebSocket; `next` waits for a message. */
export const connect = Effect.fnUntraced(function*(options: {
  readonly query?: string
  readonly protocol?: string
  readonly authorization?: string
  readonly autoPong?: boolean
  /** Request target to send instead of the path. */
  readonly target?: string
}) {
  const frames = yield* Queue.unbounded<string>()
  const closes = yield* Queue.unbounded<{ readonly code: number; readonly reason: string }>()
  const pings = yield* Queue.unbounded<void>()
  const socket = new WebSocket(
    `ws://${yield* address}/api/v1/streaming${options.query ?? ""}`,
    options.protocol === undefined ? [] : [options.protocol],
    {
      autoPong: options.autoPong ?? true,
      finishRequest: (request) => {
        if (options.target !== undefined) request.path = options.target
        request.end()
      },
      headers: options.authorization === undefined ? {} : { authorization: options.authorization }
    }
  )
  yield* Effect.addFinalizer(() => Effect.sync(() => socket.terminate()))
  socket.on("message", (data) => Queue.offerUnsafe(frames, String(data)))
  socket.on("close", (code, reason) => Queue.offerUnsafe(closes, { code, reason: String(reason) }))
  socket.on("ping", () => Queue.offerUnsafe(pings, undefined))
  yield* Effect.callback<void, Refusal>((resume) => {
    socket.on("open", () => resume(Effect.void))
    socket.on("unexpected-response", (_, { headers, statusCode }) => {
      resume(Effect.fail({ status: statusCode ?? 0, message: headers["x-error-message"] }))
      socket.terminate()
    })
    socket.on("error", () => undefined)
  })
  const next = Effect.map(Queue.take(frames), (text): Frame => JSON.parse(text))
  return {
    socket,
    send: (value: unknown) => Effect.sync(() => socket.send(typeof value === "string" ? value : JSON.stringify(value))),
    next,
    text: Queue.take(frames),
    waiting: Queue.clear(frames),
    closed: Queue.take(closes),
    pinged: Queue.take(pings)
  }
})

export interface Refusal {
  readonly status: number
  readonly message: string | ReadonlyArray<string> | undefined
}

/** Opens a client's stream of server-sent events; `next` waits for a block, `ended` for the end. */
export const listen = Effect.fnUntraced(function*(path: string, secret?: string) {
  const controller = new AbortController()
  yield* Effect.addFinalizer(() => Effect.sync(() => controller.abort()))
  const url = `http://${yield* address}/api/v1/streaming/${path}`
  const response = yield* Effect.promise(() =>
    fetch(url, {
      signal: controller.signal,
      headers: secret === undefined ? {} : { authorization: `Bearer ${secret}` }
    })
  )
  const reader = response.body!.getReader()
  const decoder = new TextDecoder()
  const read = { text: "", done: false }
  const more = Effect.promise(() => reader.read()).pipe(
    Effect.map((chunk) => {
      read.done = chunk.done
      read.text += decoder.decode(chunk.value, { stream: true })
    })
  )
  /** Returns the text before the next `end`. */
  const until = (end: string) =>
    Effect.gen(function*() {
      while (!read.text.includes(end) && !read.done) yield* more
      const at = read.text.indexOf(end)
      if (at === -1) return Option.none<string>()
      const block = read.text.slice(0, at)
      read.text = read.text.slice(at + end.length)
      return Option.some(block)
    })
  return {
    response,
    hello: until("\n"),
    next: until("\n\n"),
    rest: Effect.gen(function*() {
      while (!read.done) yield* more
      return read.text
    })
  }
})

/** Creates a user with an open socket. */
export const listener = Effect.fnUntraced(function*(name: string, query: string, ...scopes: ReadonlyArray<string>) {
  const account = yield* person(name)
  const { secret, tokenId } = yield* tokenOf(account, ...scopes)
  return { account, tokenId, secret, ...(yield* connect({ query, protocol: secret })) }
})

/** Sends a filter change to the account's `user` stream: when it arrives, all earlier events have arrived. */
export const mark = (account: AccountId) =>
  Effect.flatMap(Broadcast, (broadcast) => broadcast.publish({ _tag: "FiltersChanged", accountId: account }))
