import { Context, Effect, Layer } from "effect"
import { HttpServerRequest } from "effect/http"
import { Unavailable } from "../../services/Errors.ts"
import * as Gate from "../../services/outbound/Gate.ts"
import * as AddressShares from "./AddressShares.ts"
import { addressOf } from "./ClientAddresses.ts"

/** Expensive reads under way at once on one node: each keeps a session of Postgres and the process busy for long. */
export const atOnceMax = 4
/** Those under way and those that wait for them, in all and of one address; more are told to come back. */
export const bounds = { atOnceMax: 64, perAddressMax: 16 } as const satisfies AddressShares.Bounds

/**
 * Threads, searches and pages for people cost a hundred times what other reads do. They share few places, so that
 * readers of one long thread slow one another and nobody else.
 */
export class ExpensiveReads extends Context.Service<ExpensiveReads, {
  /** Does it when there is a place; fails where too many wait. */
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
