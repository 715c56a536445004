import { Context, Effect, Layer } from "effect"
import { inject } from "vitest"
import { SlowKeyWork } from "../../src/layers/NodeKeyOperations.ts"
import type { KeyPair } from "../../src/services/federation/signatures/KeyOperations.ts"

/** Number of key pairs for a test run. Generating one takes a tenth of a second of CPU. */
const pairsMax = 16

const own = Context.get(Context.empty(), SlowKeyWork)

/** Generates the key pairs of the whole run, before its tests. */
export const make = (): Promise<ReadonlyArray<KeyPair>> =>
  Effect.runPromise(Effect.all(Array.from({ length: pairsMax }, () => own.generate), { concurrency: "unbounded" }))

let given = 0

/** Takes a key pair that was not given recently: the last `pairsMax` differ. */
export const next = Effect.sync((): KeyPair => inject("keyPairs")[given++ % pairsMax]!)

/** Gives a server under test these key pairs; otherwise each of its accounts would generate one. */
export const layer = Layer.succeed(SlowKeyWork, { ...own, generate: next })
