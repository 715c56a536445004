import { Context, Effect, Layer } from "effect"
import { HttpServerRequest } from "effect/http"
import * as Gate from "../../services/outbound/Gate.ts"
import { Unavailable } from "../../services/runtime/Errors.ts"
import * as AddressShares from "./AddressShares.ts"
import { addressOf } from "./ClientAddresses.ts"

/** Maximum concurrent expensive reads on a node: each keeps a Postgres connection and the process busy for long. */
export const atOnceMax = 4
/** Maximum expensive reads that run or wait, in total and per address; further ones get 503. */
export const bounds = { atOnceMax: 64, perAddressMax: 16 } as const satisfies AddressShares.Bounds

/**
 * Limits threads, searches and HTML pages, which cost a hundred times what other reads do. They share a few slots, so
 * that readers of a long thread slow down only each other.
 */
export class ExpensiveReads extends Context.Service<ExpensiveReads, {
  /** Runs a read when a slot is free; fails with `Unavailable` if too many wait. */
  readonly within: <A, E, R>(
    read: Effect.Effect<A, E, R>
  ) => Effect.Effect<A, E | Unavailable, R | HttpServerRequest.HttpServerRequest>
}>()("murmuration/http/guard/ExpensiveReads") {
  static readonly layer = Layer.sync(ExpensiveReads, () => {
    const gate = Gate.make(atOnceMax)
    const shares = AddressShares.make(bounds)
    return ExpensiveReads.of({
      within: <A, E, R>(read: Effect.Effect<A, E, R>) =>
        Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => {
          const address = addressOf(request)
          return Effect.uninterruptibleMask((restore): Effect.Effect<A, E | Unavailable, R> =>
            shares.enter(address) === undefined
              ? Effect.ensuring(restore(gate.within(read)), Effect.sync(() => shares.leave(address)))
              : new Unavailable()
          )
        })
    })
  })
}
