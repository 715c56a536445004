import { Effect, Layer, PubSub } from "effect"
import { Accounts } from "../actors/account/Accounts.ts"
import { PostgresChannel } from "./PostgresChannel.ts"

/** Wakes the actors for which the command line left rows. The agenda would find the rows too, a second later. */
export const layer = Layer.effectDiscard(Effect.gen(function*() {
  const accounts = yield* Accounts
  const signals = yield* (yield* PostgresChannel).subscribe
  yield* Effect.forkScoped(Effect.forever(Effect.flatMap(
    PubSub.take(signals),
    (signal) => signal._tag === "Wake" ? accounts.wake(signal.accountId) : Effect.void
  )))
}))
