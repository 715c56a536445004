import { Context, type Effect, Schema } from "effect"

/** Too many senders are being looked up; this one must retry. `placed`: the request still holds its own place. */
export class Crowded extends Schema.TaggedError<Crowded>()("Crowded", { placed: Schema.Boolean }) {
  override get message() {
    return "Too many senders are looked up"
  }
}

interface Slots {
  /** Releases the request's place while `work` waits for another server, and takes it back afterwards. */
  readonly withoutSlot: <A, E, R>(work: Effect.Effect<A, E, R>) => Effect.Effect<A, E | Crowded, R>
}

/**
 * Lets requests from unknown senders give up their places to known ones; provided by the code that allots the places.
 */
export const InboxSlots = Context.Reference<Slots>("murmuration/services/federation/InboxSlots", {
  defaultValue: () => ({ withoutSlot: (work) => work })
})
