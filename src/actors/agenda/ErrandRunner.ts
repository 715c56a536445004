import { Effect, Layer, Schedule } from "effect"
import { RemoteAccounts } from "../../services/federation/RemoteAccounts.ts"
import { RemoteActors } from "../../services/federation/RemoteActors.ts"
import { type Errand, Errands } from "../../services/intents/Errands.ts"

/** Errands that a node runs at once, and how long one may take before it is given up for this time, in seconds. */
export const errandsAtOnceMax = 32
export const errandSecondsMax = 50

const make = Effect.gen(function*() {
  const accounts = yield* RemoteAccounts
  const actors = yield* RemoteActors
  const errands = yield* Errands

  const profile = Effect.fnUntraced(function*(accountId: bigint) {
    const uri = yield* accounts.uriOf(accountId)
    if (uri !== undefined) yield* actors.refresh(uri)
  })

  /** What is done, by its kind. All of it may come again. */
  const runs = { profile } as const

  const run = (errand: Errand) =>
    runs[errand.kind](errand.subjectId).pipe(
      Effect.andThen(errands.strike(errand)),
      Effect.timeout(`${errandSecondsMax} seconds`),
      Effect.withSpan("Errands.run", { attributes: { kind: errand.kind } }),
      Effect.catchCause((cause) => Effect.logInfo("an errand must wait", cause))
    )

  yield* Effect.flatMap(errands.take(errandsAtOnceMax), Effect.forEach(run, { concurrency: "unbounded" })).pipe(
    Effect.catchCause((cause) => Effect.logWarning("errands must wait", cause)),
    Effect.repeat(Schedule.spaced("1 second")),
    Effect.forkScoped
  )
})

/**
 * Runs errands: on every node, each taken by one of them at a time, again where it did not come to its end. It holds no
 * transaction while it waits for others; what it learns is written by services that may be told twice.
 */
export const layer = Layer.effectDiscard(make)
