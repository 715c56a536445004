import { Context, type Effect, type Scope } from "effect"
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

/**
 * Sends one request on a connection to an address that may be connected to, and follows nothing. Used by `Outbound` only,
 * which holds the rules about everything else.
 */
export class Transport extends Context.Service<Transport, {
  /** When the scope closes, what was not read is given up. */
  readonly send: (request: TransportRequest) => Effect.Effect<TransportAnswer, Refused | Unreachable, Scope.Scope>
}>()("murmuration/services/outbound/Transport") {}
