import { assert, describe, it } from "vitest"
import { faultsMax } from "./FaultPlan.ts"
import { ask, type Settings, startWorker } from "./Fleet.ts"
import { noTimeout, upTo } from "./Suite.ts"

/** A seed in which a node dies, and its first commands. */
const seed = 47
const settings: Settings = {
  federation: false,
  commands: upTo(6),
  faults: upTo(faultsMax),
  mutant: undefined,
  transfers: false,
  logs: false,
  measured: true
}

/** Runs after which all statements are prepared and most code is compiled, and runs that are compared with them. */
const firstRuns = 2
const laterRuns = 4
/** Maximum growth per run, in bytes. Measured: 0.3 MB, mostly code that V8 compiles. A run that is kept has 12 MB. */
const growthMax = 1_000_000

describe("memory of a simulation process", () => {
  it("a process keeps no machine of a run, and its memory does not grow with its runs", async () => {
    const { child, loaded } = startWorker(false)
    try {
      assert.isTrue(await loaded)
      const bytes: Array<number> = []
      for (const n of upTo(firstRuns + laterRuns)) {
        const { kept, result } = await ask(child, { seed, settings })
        assert.deepStrictEqual(result.broken, [])
        assert.isAbove(result.counts["crash"] ?? 0, 0)
        assert.strictEqual(kept?.machines, 0, `after run ${n}`)
        bytes.push(kept?.bytes ?? Infinity)
      }
      const [before = 0, after = Infinity] = [bytes[firstRuns - 1], bytes.at(-1)]
      assert.isBelow((after - before) / laterRuns, growthMax, String(bytes))
    } finally {
      child.kill("SIGKILL")
    }
  }, noTimeout)
})
