import { defineConfig } from "vitest/config"

/** Package tests in a Debian root, which take minutes and need root: `npm run test:packages`. */
export default defineConfig({
  test: {
    include: ["test/packages/**/*.test.ts"],
    globalSetup: ["test/packages/globalSetup.ts"],
    fileParallelism: false,
    testTimeout: 600_000,
    hookTimeout: 900_000,
    teardownTimeout: 60_000
  }
})
