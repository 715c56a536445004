import { defineConfig } from "vitest/config"
import { SlowFirst } from "./test/support/SlowFirst.ts"

const shared = {
  pool: "forks",
  // Files share a process: reading the program anew for each took a third of the time.
  isolate: false,
  // Tests that say that they are concurrent, as the simulation's, all begin at once.
  maxConcurrency: 100,
  // Ends tests that hang. No test has its own bound: a busy machine is several times slower.
  testTimeout: 900_000,
  hookTimeout: 900_000,
  teardownTimeout: 60_000
} as const

/**
 * Tests that measure how long replies take while nodes fail or are replaced, which leave half of the processors idle; and
 * the simulation of one server for that half, whose time is virtual and whose processes have a lower priority.
 */
const timed = ["test/cluster/**/*.test.ts", "test/layers/Handover.test.ts", "test/simulation/simulation.test.ts"]

/** Those of the next order begin when these have ended, each with as many processes as leave no processor idle. */
const project = (name: string, groupOrder: number, maxWorkers: number, files: object) => ({
  test: { ...shared, name, maxWorkers, sequence: { groupOrder }, ...files }
})

export default defineConfig({
  test: {
    globalSetup: ["test/support/globalSetup.ts"],
    reporters: ["default", ["json", { outputFile: "node_modules/.cache/tests.json" }]],
    sequence: { sequencer: SlowFirst },
    projects: [
      project("cluster", 0, 4, { include: timed }),
      project("tests", 1, 4, { include: ["test/**/*.test.ts"], exclude: [...timed, "test/packages/**"] })
    ]
  }
})
