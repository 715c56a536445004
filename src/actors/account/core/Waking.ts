import { Effect, Layer, PubSub } from "effect"
import { Wakes } from "../../../services/intents/Wakes.ts"
import { AccountActors } from "./AccountActors.ts"

/** Wakes the actors for which services wrote rows. The agenda would find the rows too, some seconds later. */
export const layer = Layer.effectDiscard(Effect.gen(function*() {
  const accounts = yield* AccountActors
  const wanted = yield* (yield* Wakes).wanted
  yield* Effect.forkScoped(Effect.forever(Effect.flatMap(PubSub.take(wanted), accounts.wake)))
}))
