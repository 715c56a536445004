import { Context, Effect } from "effect"

type Aside = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

export interface InFlight {
  readonly withoutSlot: Aside
}

/**
 * Runs work of a request while it does not count as in progress: while its body arrives or its stream is open, it takes
 * no slot (`requestsInFlightMax`) and no time (`responseMillisMax`). Middleware that counts or times requests provides
 * this, wrapping the outer one.
 */
export const InFlight = Context.Reference<InFlight>("murmuration/http/guard/InFlight", {
  defaultValue: () => ({ withoutSlot: (effect) => effect })
})

/** Runs work that only waits for the client, and has its own limits. */
export const withoutSlot: Aside = (effect) => Effect.flatMap(InFlight, (inFlight) => inFlight.withoutSlot(effect))
