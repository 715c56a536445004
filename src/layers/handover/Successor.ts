import { Effect } from "effect"
import { type ChildProcess, fork } from "node:child_process"
import type { Server } from "node:http"
import { fileURLToPath } from "node:url"
import { asks, flag } from "./HandoverMessages.ts"

/** How long the successor may take until it wants the port. */
const readyTimeout = "2 minutes"

const program = fileURLToPath(new URL("../../main.ts", import.meta.url))

const ready = (child: ChildProcess) =>
  Effect.callback<void, string>((resume) => {
    child.once("message", (word) => resume(word === asks ? Effect.void : Effect.fail(`it said ${String(word)}`)))
    child.once("error", (error) => resume(Effect.fail(error.message)))
    child.once("exit", (code, signal) => resume(Effect.fail(`it left with ${signal ?? `code ${code}`}`)))
  })

const give = (child: ChildProcess, server: Server) =>
  Effect.callback<void, string>((resume) => {
    child.send(flag, server, (error) => resume(error === null ? Effect.void : Effect.fail(error.message)))
  })

/**
 * Starts this program once more, as it is on the disk now, with the same variables. Gives it the port when it has
 * everything else. From then on it runs by itself, under the process number that is answered. Fails in words where it
 * does not come that far; then it is gone.
 */
export const start = (server: Server): Effect.Effect<number, string> =>
  Effect.gen(function*() {
    const child = yield* Effect.sync(() => fork(program, [flag], { stdio: "inherit" }))
    yield* ready(child).pipe(
      Effect.timeoutOrElse({
        duration: readyTimeout,
        orElse: () => Effect.fail(`it was not ready in ${readyTimeout}`)
      }),
      Effect.andThen(give(child, server)),
      Effect.onError(() => Effect.sync(() => child.kill()))
    )
    child.disconnect()
    child.unref()
    return child.pid ?? 0
  })
