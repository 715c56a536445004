import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber } from "effect"
import * as Batches from "../../../src/actors/domain/Batches.ts"

describe("questions that are answered together", () => {
  it.effect("are those that come meanwhile, so many at once; whoever goes away takes nobody's answer along", () =>
    Effect.gen(function*() {
      const asked: Array<ReadonlyArray<number>> = []
      const gate = yield* Deferred.make<void>()
      const ask = Batches.make({
        most: 3,
        turns: 1,
        run: (items: ReadonlyArray<number>) =>
          Effect.as(
            Effect.andThen(Effect.sync(() => asked.push(items)), Deferred.await(gate)),
            (item: number) => item * 10
          )
      })
      const fibers = []
      for (let item = 1; item <= 6; item++) {
        fibers.push(yield* Effect.forkChild(ask(item)))
        yield* Effect.yieldNow
      }
      assert.deepStrictEqual(asked, [[1]])
      yield* Fiber.interrupt(fibers[1]!)
      yield* Deferred.succeed(gate, undefined)
      const answers = yield* Effect.forEach(fibers, (fiber) => Fiber.await(fiber))
      assert.deepStrictEqual(asked, [[1], [2, 3, 4], [5, 6]])
      assert.deepStrictEqual(answers.flatMap((exit) => Exit.isSuccess(exit) ? [exit.value] : []), [10, 30, 40, 50, 60])
      assert.strictEqual(yield* ask(7), 70)
    }))

  it.effect("fail together, and the next are asked anew", () =>
    Effect.gen(function*() {
      let fails = true
      const ask = Batches.make({
        most: 3,
        turns: 1,
        run: () => fails ? Effect.fail("no") : Effect.succeed(() => "yes")
      })
      assert.strictEqual(yield* Effect.flip(ask(1)), "no")
      fails = false
      assert.strictEqual(yield* ask(2), "yes")
    }))
})
