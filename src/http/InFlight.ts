import { Context, Effect } from "effect"

type Aside = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

export interface InFlight {
  readonly aside: Aside
}

/**
 * How a request steps aside of those that are in work: while its body arrives or its stream is open it takes none of
 * their places (`requestsInFlightMax`). None of its time is counted (`answerMillisMax`). Who counts or times requests
 * provides this, over what was there.
 */
export const InFlight = Context.Reference<InFlight>("murmuration/http/InFlight", {
  defaultValue: () => ({ aside: (effect) => effect })
})

/** Does something for which only the client is waited, under limits of its own. */
export const aside: Aside = (effect) => Effect.flatMap(InFlight, (inFlight) => inFlight.aside(effect))
