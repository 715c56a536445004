import { Context, type Effect, type Result, type Scope } from "effect"
import type { Refused, Unreachable } from "./OutboundError.ts"

export interface TransportRequest {
  readonly method: "GET" | "POST"
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly body?: Uint8Array
}

/** The head of an answer, and its body by and by. */
export interface TransportAnswer {
  readonly status: number
  /** By names in lower case; what came several times is joined by commas. */
  readonly headers: Readonly<Record<string, string>>
  /** The next bytes as they came, still encoded; undefined at the end. */
  readonly read: Effect.Effect<Uint8Array | undefined, Refused | Unreachable>
}

/** The answer to a request whose body is of little interest. */
export interface Exchanged {
  readonly status: number
  /** The `Retry-After` header. */
  readonly retryAfter: string | undefined
  /** The beginning of the body; empty where it was too long, packed, or broke off. */
  readonly body: Uint8Array
}

/**
 * Sends one request on a connection to an address that may be connected to, and follows nothing. Used by `Outbound` only,
 * which holds the rules about everything else.
 */
export class Transport extends Context.Service<Transport, {
  /** When the scope closes, what was not read is given up. */
  readonly send: (request: TransportRequest) => Effect.Effect<TransportAnswer, Refused | Unreachable, Scope.Scope>
  /**
   * The same without any fiber, for what is sent by the thousand: `done` is called once, with a body of `bytesMax` at most.
   * The function that comes back ends the exchange, and gives what was answered until then; `done` is not called any more.
   */
  readonly exchange: (
    request: TransportRequest,
    bytesMax: number,
    done: (result: Result.Result<Exchanged, Refused | Unreachable>) => void
  ) => () => Exchanged | undefined
}>()("murmuration/services/outbound/Transport") {}
