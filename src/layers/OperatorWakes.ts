import { Effect, Layer, PubSub } from "effect"
import { AccountActors } from "../actors/account/core/AccountActors.ts"
import { PostgresChannel } from "./PostgresChannel.ts"

/** Wakes the actors for which the command line wrote rows. The agenda would find the rows too, a second later. */
export const layer = Layer.effectDiscard(Effect.gen(function*() {
  const actors = yield* AccountActors
  const signals = yield* (yield* PostgresChannel).subscribe
  yield* Effect.forkScoped(Effect.forever(Effect.flatMap(
    PubSub.take(signals),
    (signal) => signal._tag === "Wake" ? actors.wake(signal.accountId) : Effect.void
  )))
}))
