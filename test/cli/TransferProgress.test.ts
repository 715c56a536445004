import { assert, describe, it } from "@effect/vitest"
import { Console, Deferred, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import * as TransferProgress from "../../src/cli/TransferProgress.ts"

describe("a step of a copy", () => {
  it.effect("prints its rows each minute until it ends", () =>
    Effect.gen(function*() {
      const lines: Array<string> = []
      const console = { ...globalThis.console, log: (line: string) => void lines.push(line) }
      let copied = 0n
      const end = yield* Deferred.make<string>()
      const step = yield* Deferred.await(end).pipe(
        TransferProgress.during("posts", Effect.sync(() => copied)),
        Effect.provideService(Console.Console, console),
        Effect.forkChild
      )
      yield* TestClock.adjust("59 seconds")
      assert.deepStrictEqual(lines, [])
      copied = 200_000n
      yield* TestClock.adjust("1 second")
      copied = 400_000n
      yield* TestClock.adjust("1 minute")
      yield* Deferred.succeed(end, "done")
      assert.strictEqual(yield* Fiber.join(step), "done")
      yield* TestClock.adjust("10 minutes")
      assert.deepStrictEqual(lines.map((line) => line.replaceAll(/ +/g, " ")), [
        "posts 200000 so far",
        "posts 400000 so far"
      ])
    }))
})
