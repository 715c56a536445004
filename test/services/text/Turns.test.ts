import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { hasMoreCharacters } from "../../../src/services/text/Characters.ts"
import { mapWithYields } from "../../../src/services/text/Turns.ts"

describe("F104: work on many texts", () => {
  const turnsOf = Effect.fnUntraced(function*(texts: ReadonlyArray<string>) {
    const reading = { done: false, turns: 0 }
    const counting = Effect.gen(function*() {
      while (!reading.done) {
        reading.turns++
        yield* Effect.yieldNow
      }
    })
    const work = Effect.tap(
      mapWithYields(texts, (text) => text, (text) => text.length),
      () => Effect.sync(() => void (reading.done = true))
    )
    const [, lengths] = yield* Effect.all([counting, work], { concurrency: 2 })
    assert.deepStrictEqual(lengths, texts.map(({ length }) => length))
    return reading.turns
  })

  it.effect("yields to others after two long ones, and not between short ones", () =>
    Effect.gen(function*() {
      assert.isAtLeast(yield* turnsOf(Array.from({ length: 40 }, () => "a".repeat(65_536))), 20)
      assert.isAtMost(yield* turnsOf(Array.from({ length: 40 }, () => "a".repeat(500))), 2)
    }))

  it("counts characters up to the limit", () => {
    assert.isFalse(hasMoreCharacters("\u{1f600}".repeat(5), 5))
    assert.isTrue(hasMoreCharacters("\u{1f600}".repeat(6), 5))
    assert.isTrue(hasMoreCharacters("abcdef", 5))
    assert.isFalse(hasMoreCharacters("", 0))
  })
})
