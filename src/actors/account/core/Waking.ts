import { Effect, Layer, PubSub } from "effect"
import { Wakes } from "../../../services/intents/Wakes.ts"
import { AccountActors } from "./AccountActors.ts"

/** Wakes the actors for which services wrote rows. The agenda would find the rows too, some seconds later. */
export const layer = Layer.effectDiscard(Effect.gen(function*() {
  const accounts = yield* AccountActors
  const requests = yield* (yield* Wakes).requests
  yield* Effect.forkScoped(Effect.forever(Effect.flatMap(PubSub.take(requests), accounts.wake)))
}))
