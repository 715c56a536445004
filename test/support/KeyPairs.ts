import { Context, Effect, Layer } from "effect"
import { SlowKeyWork } from "../../src/layers/KeyOperations.ts"
import type { KeyPair } from "../../src/services/federation/signatures/KeyOperations.ts"

/** Key pairs that a process of tests makes, at 50 ms each; later calls get one of them again. */
const pairsMax = 32

const own = Context.get(Context.empty(), SlowKeyWork)
const pairs: Array<KeyPair> = []
let given = 0

/** A key pair that is none of those which were given before, as far as a test looks back. */
export const next = Effect.suspend(() => {
  const known = pairs[given++ % pairsMax]
  return known === undefined
    ? Effect.tap(own.generate, (pair) => Effect.sync(() => pairs.push(pair)))
    : Effect.succeed(known)
})

/** For a server under test, whose every account would make one of its own. */
export const layer = Layer.succeed(SlowKeyWork, { ...own, generate: next })
