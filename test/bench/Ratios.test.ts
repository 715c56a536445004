import { assert, describe, it } from "@effect/vitest"
import { generator } from "../simulation/Seeded.ts"
import { change, middle, type Pair } from "./Ratios.ts"

const random = generator(7)
/** Returns a value with a random deviation, up to `spread` as a share of the value. */
const around = (value: number, spread: number) => value * (1 + spread * (random() * 2 - 1))

/**
 * Simulates six starts on a machine whose speed drifts for both servers alike. `speeds` has the second server's
 * relative cost in each start.
 */
const starts = (ratio: number, speeds: ReadonlyArray<number>): ReadonlyArray<ReadonlyArray<Pair>> =>
  speeds.map((speed) =>
    Array.from({ length: 12 }, (): Pair => {
      const machine = around(0.4, 0.4)
      return { before: machine * around(1, 0.02), after: machine * ratio * speed * around(1, 0.02) }
    })
  )

const alike = [1, 1, 1, 1, 1, 1]

describe("the change between two checkouts", () => {
  it("is the median of the ratios of neighbours, and its inverse if the sides are swapped", () => {
    const pairs = [{ before: 2, after: 1 }, { before: 1, after: 4 }, { before: 1, after: 1 }, { before: 4, after: 8 }]
    const there = change([pairs])
    const back = change([pairs.map(({ after, before }) => ({ before: after, after: before }))])
    assert.closeTo(there.ratio, Math.SQRT2, 1e-9)
    assert.closeTo(back.ratio, 1 / Math.SQRT2, 1e-9)
    assert.closeTo(there.whole, 14 / 8, 1e-9)
    assert.strictEqual(middle([3, 1, 2]), 2)
    assert.isNaN(middle([]))
    assert.isNaN(change([[{ before: 0, after: 1 }]]).ratio)
  })

  it("is visible on a machine that drifts by more, and a single disturbed slice does not move it", () => {
    const { high, low, ratio } = change(starts(1.05, alike))
    assert.closeTo(ratio, 1.05, 0.01)
    assert.isAbove(low, 1.03)
    assert.isBelow(high, 1.07)
    const [first = [], ...others] = starts(1, alike)
    const disturbed = change([first.with(0, { before: 0.4, after: 40 }), ...others])
    assert.closeTo(disturbed.ratio, 1, 0.01)
    assert.isAbove(disturbed.whole, 1.5)
  })

  it("has a wide interval if the starts differ more than the pairs of one start", () => {
    const same = change(starts(1, alike))
    const different = change(starts(1, [0.9, 0.94, 0.98, 1.02, 1.06, 1.1]))
    assert.isAbove(different.high - different.low, 3 * (same.high - same.low))
    assert.isTrue(different.low <= 1 && different.high >= 1)
  })
})
