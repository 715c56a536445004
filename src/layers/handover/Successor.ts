import { Effect } from "effect"
import { type ChildProcess, fork } from "node:child_process"
import type { Server } from "node:http"
import { fileURLToPath } from "node:url"
import { readyMessage, successorFlag } from "./HandoverMessages.ts"

/** Time that the successor has until it asks for the port. */
const readyTimeout = "2 minutes"

const program = fileURLToPath(new URL("../../main.ts", import.meta.url))

const ready = (child: ChildProcess) =>
  Effect.callback<void, string>((resume) => {
    child.once(
      "message",
      (word) => resume(word === readyMessage ? Effect.void : Effect.fail(`it said ${String(word)}`))
    )
    child.once("error", (error) => resume(Effect.fail(error.message)))
    child.once("exit", (code, signal) => resume(Effect.fail(`it exited with ${signal ?? `code ${code}`}`)))
  })

const give = (child: ChildProcess, server: Server) =>
  Effect.callback<void, string>((resume) => {
    child.send(successorFlag, server, (error) => resume(error === null ? Effect.void : Effect.fail(error.message)))
  })

/**
 * Starts this program again, as it is on the disk now, with the same environment. Passes the port when the new process
 * has everything else; it then runs on its own, with the returned process id. Fails with a reason if the process does
 * not get that far; it is then killed.
 */
export const start = (server: Server): Effect.Effect<number, string> =>
  Effect.gen(function*() {
    const child = yield* Effect.sync(() => fork(program, [successorFlag], { stdio: "inherit" }))
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
