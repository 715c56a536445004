import { Context, type Effect, Schema, type Scope } from "effect"
import type { HttpServerRequest } from "effect/http"

/** Maximum bytes of a client's message, which only ever names a stream. */
export const clientMessageBytesMax = 16_384
/** Maximum pending bytes of a client; one that is further behind is cut off and can reconnect. */
export const waitingBytesMax = 1_048_576

/** The client is gone, or never completed the handshake. */
export class WebSocketClosed extends Schema.TaggedError<WebSocketClosed>()("WebSocketClosed", {}) {}

/** An open WebSocket. Calls on a closed one do nothing. */
export interface WebSocket {
  /** Returns the messages that arrived, texts as strings; waits for at least one. */
  readonly receive: Effect.Effect<ReadonlyArray<string | Uint8Array>, WebSocketClosed>
  /** Sends UTF-8 as a text message, without waiting; beyond `waitingBytesMax` the connection ends. */
  readonly send: (text: Uint8Array) => void
  readonly ping: () => void
  /** Returns true if the client returned a ping since the last call; also on the first call. */
  readonly isAlive: () => boolean
  readonly close: (code: number, reason: string) => void
  /** Ends the connection without a close frame, for a client that does not respond. */
  readonly terminate: () => void
}

/** Turns the current request into a WebSocket, which closes (1001) with the scope. */
export class WebSockets extends Context.Service<WebSockets, {
  /** Accepts the handshake and the first subprotocol that the client offers. */
  readonly accept: Effect.Effect<WebSocket, WebSocketClosed, HttpServerRequest.HttpServerRequest | Scope.Scope>
}>()("murmuration/http/streaming/WebSockets") {}
