import { defineConfig } from "vitest/config"
import { SlowFirst } from "./test/support/SlowFirst.ts"

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: ["test/support/globalSetup.ts"],
    reporters: ["default", ["json", { outputFile: "node_modules/.cache/tests.json" }]],
    pool: "forks",
    // Files share a process: reading the program anew for each took a third of the time.
    isolate: false,
    maxWorkers: 2,
    sequence: { sequencer: SlowFirst },
    testTimeout: 60_000,
    hookTimeout: 120_000,
    teardownTimeout: 60_000
  }
})
