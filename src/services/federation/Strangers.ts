import { Context, type Effect, Schema } from "effect"

/** So many are looked up already that this one has to come back. `placed`: the request still holds its own place. */
export class Crowded extends Schema.TaggedError<Crowded>()("Crowded", { placed: Schema.Boolean }) {
  override get message() {
    return "Too many senders are looked up"
  }
}

interface StrangerPlaces {
  /** Does what waits for another server outside of the place that the request holds, and comes back to it. */
  readonly aside: <A, E, R>(work: Effect.Effect<A, E, R>) => Effect.Effect<A, E | Crowded, R>
}

/** How those who have to be looked up leave their places to those who are known; whoever gives out places provides it. */
export const Strangers = Context.Reference<StrangerPlaces>("murmuration/services/federation/Strangers", {
  defaultValue: () => ({ aside: (work) => work })
})
