import { assert, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("..", import.meta.url))

describe("npm run check", () => {
  for (
    const [program, ...args] of [
      ["tsc", "--noEmit", "--checkers", "1"],
      ["tsc", "--noEmit", "-p", "tsconfig.client.json"],
      ["oxlint", "--deny-warnings"],
      ["dprint", "check"]
    ] as const
  ) {
    it(`${[program, ...args].join(" ")} finds nothing to complain of`, () => {
      const { status, stderr, stdout } = spawnSync(`${root}node_modules/.bin/${program}`, args, {
        cwd: root,
        encoding: "utf8",
        env: { ...process.env, NO_COLOR: "1" }
      })
      assert.strictEqual(status, 0, stdout + stderr)
    })
  }
})
