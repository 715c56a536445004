import { Effect, FileSystem } from "effect"
import { spawn, spawnSync } from "node:child_process"
import { once } from "node:events"

/**
 * Puts a named pipe at `path`, which keeps the program that reads or writes this file waiting until the end of the
 * scope. Returns an effect that completes when the program has opened it.
 */
export const heldPipe = Effect.fnUntraced(function*(path: string, program: "reads" | "writes") {
  const fs = yield* FileSystem.FileSystem
  const { opened } = yield* Effect.acquireRelease(
    Effect.sync(() => {
      spawnSync("mkfifo", ["-m", "644", path])
      const other = spawn("/bin/sh", [
        "-c",
        `exec 3${program === "reads" ? ">" : "<"} "$1"; echo; read line`,
        "sh",
        path
      ])
      return { other, opened: once(other.stdout, "data") }
    }),
    ({ other }) =>
      Effect.andThen(Effect.sync(() => other.kill("SIGKILL")), Effect.ignore(fs.remove(path, { force: true })))
  )
  return Effect.promise(() => opened)
})
