import { Context, Effect, Layer } from "effect"
import { inject } from "vitest"
import { SlowKeyWork } from "../../src/layers/KeyOperations.ts"
import type { KeyPair } from "../../src/services/federation/signatures/KeyOperations.ts"

/** Key pairs of a run of tests, which cost a processor a tenth of a second each. */
const pairsMax = 16

const own = Context.get(Context.empty(), SlowKeyWork)

/** Those of the whole run, made before its tests. */
export const make = (): Promise<ReadonlyArray<KeyPair>> =>
  Effect.runPromise(Effect.all(Array.from({ length: pairsMax }, () => own.generate), { concurrency: "unbounded" }))

let given = 0

/** A key pair that is none of those which were given before, as far as a test looks back. */
export const next = Effect.sync((): KeyPair => inject("keyPairs")[given++ % pairsMax]!)

/** For a server under test, whose every account would make one of its own. */
export const layer = Layer.succeed(SlowKeyWork, { ...own, generate: next })
