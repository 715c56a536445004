import { Effect, Layer } from "effect"
import { SpamReplay } from "../../services/spam/SpamReplay.ts"
import { every } from "./ClaimRounds.ts"

/** Does the dry runs of rules against spam that wait, and forgets what is old: every node asks, and one of them does each. */
export const layer = Layer.effectDiscard(
  Effect.flatMap(SpamReplay, ({ step, sweep }) =>
    Effect.andThen(
      every("1 second", "dry runs against spam", step),
      every("1 minute", "what rules against spam found", sweep)
    ))
).pipe(Layer.provide(SpamReplay.layer))
