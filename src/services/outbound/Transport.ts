import { Context, type Effect, type Result, type Scope } from "effect"
import type { Refused, Unreachable } from "./OutboundError.ts"

export interface TransportRequest {
  readonly method: "GET" | "POST"
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly body?: Uint8Array
}

/** Head of a response, with a reader for its body. */
export interface TransportResponse {
  readonly status: number
  /** Names in lower case; repeated headers are joined by commas. */
  readonly headers: Readonly<Record<string, string>>
  /** Returns the next bytes, still encoded; undefined at the end. */
  readonly read: Effect.Effect<Uint8Array | undefined, Refused | Unreachable>
}

/** Response to a request whose body is of little interest. */
export interface Exchanged {
  readonly status: number
  /** The `Retry-After` header. */
  readonly retryAfter: string | undefined
  /** Start of the body; empty if it was too long, encoded or truncated. */
  readonly body: Uint8Array
}

/**
 * Sends a single request over a connection to an allowed address; follows no redirects. Only for `Outbound`, which has
 * all other rules.
 */
export class Transport extends Context.Service<Transport, {
  /** Sends a request; closing the scope discards the unread body. */
  readonly send: (request: TransportRequest) => Effect.Effect<TransportResponse, Refused | Unreachable, Scope.Scope>
  /**
   * Like `send` without a fiber, for thousands of requests: calls `done` once, with a body of `bytesMax` at most. The
   * returned function aborts the exchange, so that `done` is not called any more, and returns the response received
   * until then.
   */
  readonly exchange: (
    request: TransportRequest,
    bytesMax: number,
    done: (result: Result.Result<Exchanged, Refused | Unreachable>) => void
  ) => () => Exchanged | undefined
}>()("murmuration/services/outbound/Transport") {}
