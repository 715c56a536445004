import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { momentMillisMax, momentMillisMin, momentOf, momentOfSeconds } from "../../../src/services/runtime/Moments.ts"

const Millis = Schema.Int.check(Schema.isBetween({ minimum: -8.64e15, maximum: 8.64e15 }))

describe("dates from outside", () => {
  it.prop("F10: a date in any year is moved to 1970 to 9999, unchanged if in range", { millis: Millis }, ({
    millis
  }) => {
    const found = momentOf(new Date(millis).toISOString())
    assert.strictEqual(found, Math.min(Math.max(millis, momentMillisMin), momentMillisMax))
    assert.match(new Date(found ?? Number.NaN).toISOString(), /^\d{4}-/)
    const seconds = momentOfSeconds(String(Math.trunc(millis / 1_000)))
    assert.match(new Date(seconds ?? Number.NaN).toISOString(), /^\d{4}-/)
  })

  it.prop("F10: any text is parsed to a date in range or to undefined", { text: Schema.String }, ({ text }) => {
    const found = momentOf(text)
    assert.isTrue(found === undefined || (found >= momentMillisMin && found <= momentMillisMax))
  })

  it("F10: foreign dates", () => {
    assert.strictEqual(momentOf("Sun, 06 Nov 1994 08:49:37 GMT"), 784_111_777_000)
    assert.strictEqual(momentOf("2024-01-01T00:00:00"), 1_704_067_200_000)
    assert.strictEqual(momentOf("Sun, 06 Nov 275761 08:49:37 GMT"), undefined)
    for (const none of ["", "tomorrow", 1, null, undefined, {}, "NaN", "\0"]) assert.isUndefined(momentOf(none))
  })
})
