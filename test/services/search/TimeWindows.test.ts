import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"

import { idAt, idMax } from "../../../src/services/database/Ids.ts"
import { timeSlotTokens, timeWindows } from "../../../src/services/search/TimeWindows.ts"

const now = 1_795_000_000_000
const millis = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: now }))

describe("windows of time", () => {
  it.prop(
    "cover a range once, in order, and name an interval for every id in them",
    [Schema.Array(millis), Schema.Boolean],
    ([[one = now - 5, above, below], down]) => {
      const id = idAt(one) + 7n
      const range = {
        above: above === undefined ? undefined : idAt(above),
        below: below === undefined ? undefined : idAt(below)
      }
      const windows = timeWindows(range, down ? "newest first" : "oldest first", now)
      const holding = windows.filter(({ from, to }) => id >= from && id < to)
      const asked = id > (range.above ?? -1n) && id < (range.below ?? idMax)
      assert.strictEqual(holding.length, asked ? 1 : 0)
      for (const { tokens } of holding) {
        const own = timeSlotTokens(id)
        assert.isTrue(tokens.length === 0 || tokens.some((token) => own.includes(token)))
      }
      for (const [index, window] of windows.entries()) {
        const next = windows[index + 1]
        if (next !== undefined) assert.strictEqual(down ? next.to : next.from, down ? window.from : window.to)
      }
    }
  )
})
