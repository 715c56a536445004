import { NodeCrypto, NodeHttpServer } from "@effect/platform-node"
import { Effect, Layer, Option, Queue, Redacted } from "effect"
import { HttpRouter, HttpServer, HttpServerResponse } from "effect/http"
import { createServer } from "node:http"
import { WebSocket } from "ws"
import { layer as body } from "../../../src/http/body/Body.ts"
import { layer as edge } from "../../../src/http/Edge.ts"
import { AccountViews } from "../../../src/http/render/AccountViews.ts"
import { ConversationViews } from "../../../src/http/render/ConversationViews.ts"
import { NotificationViews } from "../../../src/http/render/NotificationViews.ts"
import { StatusViews } from "../../../src/http/render/StatusViews.ts"
import { layer as renderings } from "../../../src/http/render/StreamRenderings.ts"
import { Hub } from "../../../src/http/streaming/Hub.ts"
import { layer as routes } from "../../../src/http/streaming/Routes.ts"
import { layer as webSockets } from "../../../src/layers/WebSockets.ts"
import { Broadcast } from "../../../src/services/Broadcast.ts"
import { Listeners } from "../../../src/services/feeds/Listeners.ts"
import { Notifications } from "../../../src/services/feeds/Notifications.ts"
import { ActiveFilters } from "../../../src/services/filters/ActiveFilters.ts"
import { Accounts } from "../../../src/services/identity/Accounts.ts"
import { Settings } from "../../../src/services/identity/Settings.ts"
import type { AccountId } from "../../../src/services/Ids.ts"
import { CustomEmojis } from "../../../src/services/instance/CustomEmojis.ts"
import { Reports } from "../../../src/services/moderation/Reports.ts"
import { LiveTokens } from "../../../src/services/oauth/LiveTokens.ts"
import { Tokens } from "../../../src/services/oauth/Tokens.ts"
import { OpaqueSecrets } from "../../../src/services/OpaqueSecrets.ts"
import { Conversations } from "../../../src/services/statuses/Conversations.ts"
import { Statuses } from "../../../src/services/statuses/Statuses.ts"
import { ViewerStates } from "../../../src/services/statuses/ViewerStates.ts"
import { config, layerActors } from "../../support/Actors.ts"
import { person } from "../../support/People.ts"

const reads = renderings.pipe(
  Layer.provideMerge(Layer.mergeAll(NotificationViews.layer, ConversationViews.layer)),
  Layer.provideMerge(StatusViews.layer),
  Layer.provideMerge(AccountViews.layer),
  Layer.provideMerge(Layer.mergeAll(
    Accounts.layer,
    ActiveFilters.layer,
    Conversations.layer,
    Notifications.layer,
    Reports.layer,
    Settings.layer,
    CustomEmojis.layer,
    Statuses.layer,
    ViewerStates.layer,
    Listeners.layer,
    LiveTokens.layer
  )),
  Layer.provideMerge(Tokens.layer),
  Layer.provideMerge(OpaqueSecrets.layer),
  Layer.provideMerge(NodeCrypto.layer),
  Layer.provideMerge(config)
)

export const address = Effect.map(HttpServer.HttpServer, ({ address }) => HttpServer.formatAddress(address).slice(7))

/** Where clients look for the address of streams. */
const instance = HttpRouter.add(
  "GET",
  "/api/v1/instance",
  Effect.map(address, (address) => HttpServerResponse.jsonUnsafe({ urls: { streaming_api: `ws://${address}` } }))
)

/** The actors and a server of streams over real HTTP on a port of its own. */
export const layerStreams = HttpRouter.serve(Layer.mergeAll(routes, instance, body, edge), {
  disableListenLog: true,
  disableLogger: true
}).pipe(
  Layer.provideMerge(Layer.mergeAll(Hub.layer, webSockets)),
  Layer.provideMerge(NodeHttpServer.layer(createServer, { port: 0, host: "127.0.0.1", gracefulShutdownTimeout: 0 })),
  Layer.provideMerge(reads),
  Layer.provideMerge(layerActors)
)

/** A token of a user, as a client has it. */
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

/** A client's WebSocket that is open; `next` waits for a message. */
export const connect = Effect.fnUntraced(function*(options: {
  readonly query?: string
  readonly protocol?: string
  readonly authorization?: string
  readonly autoPong?: boolean
}) {
  const frames = yield* Queue.unbounded<string>()
  const closes = yield* Queue.unbounded<{ readonly code: number; readonly reason: string }>()
  const pings = yield* Queue.unbounded<void>()
  const socket = new WebSocket(
    `ws://${yield* address}/api/v1/streaming${options.query ?? ""}`,
    options.protocol === undefined ? [] : [options.protocol],
    {
      autoPong: options.autoPong ?? true,
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

/** A client's stream of server-sent events; `next` waits for a block, `ended` for the end. */
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
  /** What comes before the next occurrence of `end`. */
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

/** Somebody with an open socket. */
export const listener = Effect.fnUntraced(function*(name: string, query: string, ...scopes: ReadonlyArray<string>) {
  const account = yield* person(name)
  const { secret, tokenId } = yield* tokenOf(account, ...scopes)
  return { account, tokenId, secret, ...(yield* connect({ query, protocol: secret })) }
})

/** Says to the account's `user` stream that its filters changed: what was to come before has come when this comes. */
export const mark = (account: AccountId) =>
  Effect.flatMap(Broadcast, (broadcast) => broadcast.publish({ _tag: "FiltersChanged", accountId: account }))
