import { Context, type Effect, Schema, type Scope } from "effect"
import type { HttpServerRequest } from "effect/http"

/** Bytes of one message from a client; it only ever names a stream. */
export const clientMessageBytesMax = 16_384
/** Bytes that may wait for a client to take them; one that is further behind is cut off and can connect again. */
export const waitingBytesMax = 1_048_576

/** The client is gone, or never completed the handshake. */
export class WebSocketClosed extends Schema.TaggedError<WebSocketClosed>()("WebSocketClosed", {}) {}

/** An open WebSocket. Calls on a closed one do nothing. */
export interface WebSocket {
  /** Messages that arrived, texts as strings; waits for the next one. */
  readonly receive: Effect.Effect<ReadonlyArray<string | Uint8Array>, WebSocketClosed>
  /** Sends UTF-8 as a text message, without waiting; beyond `waitingBytesMax` the connection ends. */
  readonly send: (text: Uint8Array) => void
  readonly ping: () => void
  /** Whether the client answered a ping since this was last asked; at first it counts as alive. */
  readonly isAlive: () => boolean
  readonly close: (code: number, reason: string) => void
  /** Ends the connection without a word, for one that does not answer. */
  readonly terminate: () => void
}

/** Turns the request that is being handled into a WebSocket, which closes (1001) with the scope. */
export class WebSockets extends Context.Service<WebSockets, {
  /** Accepts the handshake and the first subprotocol that the client offers. */
  readonly accept: Effect.Effect<WebSocket, WebSocketClosed, HttpServerRequest.HttpServerRequest | Scope.Scope>
}>()("murmuration/http/streaming/WebSockets") {}
