import { Effect, Layer } from "effect"
import { DomainScores } from "../../services/spam/DomainScores.ts"
import { SpamReplay } from "../../services/spam/SpamReplay.ts"
import { repeatEvery } from "./ClaimRounds.ts"

/**
 * Runs pending dry runs of spam rules, updates the scores of servers, and deletes old findings: every node checks, and
 * one node runs each step.
 */
export const layer = Layer.effectDiscard(
  Effect.gen(function*() {
    const { fold } = yield* DomainScores
    const { step, sweep } = yield* SpamReplay
    yield* repeatEvery("1 second", "dry runs of spam rules", step)
    yield* repeatEvery("1 second", "spam scores of servers", fold)
    yield* repeatEvery("1 minute", "old results of spam rules", sweep)
  })
).pipe(Layer.provide([DomainScores.layer, SpamReplay.layer]))
