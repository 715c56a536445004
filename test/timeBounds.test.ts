import { assert, describe, it } from "@effect/vitest"
import { complaints, matches, sourcesIn } from "./support/source.ts"

/** A number as the last argument of a test, and options of a layer with a time: both end what is only slow. */
const ownBound = /(?:\}\)*,\s*[\d_]{5,}\s*\)$|\bexcludeTestServices: true,\s*timeout:)/gm
/** A wait that gives up after a number of turns, as `eventually` does once for all. */
const ownWait = /\bEffect\.repeat\([^;]*?\bschedule: Schedule\.spaced\([^)]*\), times: /g

const tests = sourcesIn("test").filter(({ path }) => !path.startsWith("test/packages/"))

describe("times of tests", () => {
  it("finds bounds that fail on a slow machine", () => {
    for (const one of ["  }), 120_000)", "  },\n  180_000\n)", "{ excludeTestServices: true, timeout: \"\" }"]) {
      assert.lengthOf(matches(one, ownBound), 1, one)
    }
    const wait = "Effect.repeat(ask, { until: good, schedule: Schedule.spaced(\"\"), times: 250 })"
    assert.lengthOf(matches(wait, ownWait), 1)
  })

  it("are bounded in vitest.config.ts only, and waits by `eventually` only", () => {
    const inTests = tests.filter(({ path }) => path.endsWith(".test.ts"))
    assert.deepStrictEqual(complaints(inTests, ({ code }) => matches(code, ownBound)), [])
    assert.deepStrictEqual(complaints(tests, ({ code }) => matches(code, ownWait)), [])
  })
})
