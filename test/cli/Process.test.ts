import { NodeServices } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { execFile } from "node:child_process"
import { fileURLToPath } from "node:url"
import * as CommandLine from "../support/CommandLine.ts"
import { mutePort } from "../support/ports.ts"
import * as Program from "../support/Program.ts"
import { TestDatabase } from "../support/TestDatabase.ts"

const root = fileURLToPath(new URL("../..", import.meta.url))

/** Removes the times and fiber ids of warnings. */
const timeless = ({ err, out, ...ended }: Program.Ended) => ({
  ...ended,
  out: out.replace(/[\d.]+ GB are free/, "some GB are free"),
  err: err.replaceAll(/^\[[\d:.]+\] (\w+) \(#\d+\)/gm, "$1")
})

layer(TestDatabase.layer.pipe(Layer.provideMerge(NodeServices.layer)), {
  excludeTestServices: true
})(
  "npm run cli as a process",
  (it) => {
    it.effect(
      "F2: a command prints the same and ends with the same code as one inside the test's process",
      () =>
        Effect.gen(function*() {
          const { url } = yield* TestDatabase
          const nowhere = { DATABASE_URL: "postgres://nobody:none@127.0.0.1:1/none", REDIS_URL: "redis://127.0.0.1:1" }
          const commands: ReadonlyArray<readonly [number, ReadonlyArray<string>, Record<string, string>?]> = [
            [0, ["account", "create", "--help"]],
            // A misspelt command gets a suggestion.
            [2, ["account", "craete", "ada"]],
            [1, ["account", "create", "no good", "--email", "nowhere", "--password", "short"]],
            [0, ["migrate"]],
            [1, ["doctor"], nowhere]
          ]
          for (const [code, args, variables = { DATABASE_URL: url }] of commands) {
            const here = yield* CommandLine.cli(args, variables)
            const there = yield* Program.cli(args, variables)
            assert.deepStrictEqual(timeless(here), timeless(there), args.join(" "))
            assert.strictEqual(there.code, code, args.join(" "))
            assert.notStrictEqual(there.out + there.err, "", args.join(" "))
            assert.notMatch(there.err, /\n\s+at /)
          }
        })
    )

    it.effect("npm run cli passes arguments, and returns the exit code", () =>
      Effect.gen(function*() {
        const { url } = yield* TestDatabase
        const run = (...args: ReadonlyArray<string>) =>
          Effect.callback<Program.Ended>((resume) => {
            const npm = execFile(
              "npm",
              ["run", "--silent", "cli", "--", ...args],
              { cwd: root, env: { PATH: process.env["PATH"], DATABASE_URL: url } },
              (_error, out, err) => resume(Effect.succeed({ code: npm.exitCode, out, err }))
            )
          })
        const listed = yield* run("account", "list", "--pending")
        assert.deepStrictEqual(listed, { code: 0, out: "No sign-ups are waiting.\n", err: "" })
        assert.strictEqual((yield* run("account", "list", "--waiting")).code, 2)
      }))

    it.effect(
      "a command stopped while it waits for Postgres ends at once and silently",
      () =>
        Effect.scoped(Effect.gen(function*() {
          const { port, reached } = yield* mutePort
          const url = `postgres://nobody:none@127.0.0.1:${port}/none`
          const { child, ended } = yield* Program.start("cli", ["migrate"], { DATABASE_URL: url })
          yield* reached
          child.kill("SIGTERM")
          assert.deepStrictEqual(yield* ended, { code: 0, out: "", err: "" })
        }))
    )
  }
)
