import { Effect } from "effect"
import { type ChildProcess, spawn } from "node:child_process"
import type { Server } from "node:http"
import { Readable } from "node:stream"
import { fileURLToPath } from "node:url"
import { readyMessage, successorFlag } from "./HandoverMessages.ts"

/** Time that the successor has until it asks for the port. */
const readyTimeout = "2 minutes"

const program = fileURLToPath(new URL("../../main.ts", import.meta.url))

/**
 * Starts a command in the background, writes its process id to descriptor 4, and exits. The command then is a child of
 * the system's first process. systemd waits only for its own children: a grandchild would be killed instead of stopped.
 */
const orphaning = "\"$@\" 4>&- & echo $! >&4"

/** Starts the program. The channel of the returned process leads to it, although that process ends at once. */
const orphan = (args: ReadonlyArray<string>) => {
  const child = spawn("/bin/sh", ["-c", orphaning, "sh", process.execPath, ...process.execArgv, ...args], {
    stdio: ["ignore", "inherit", "inherit", "ipc", "pipe"]
  })
  /** The successor's first message; undefined if it exits before. Listens from the start: a message without a listener is lost. */
  const reported = new Promise<unknown>((resolve) => {
    child.once("message", resolve).once("disconnect", () => resolve(undefined))
  })
  return { reported, child }
}

const pidOf = (child: ChildProcess) =>
  Effect.callback<number, string>((resume) => {
    let text = ""
    child.once("error", (error) => resume(Effect.fail(error.message)))
    const pipe = child.stdio[4]
    if (!(pipe instanceof Readable)) return resume(Effect.fail("it has no process id"))
    pipe.on("data", (data) => text += data)
    pipe.once("close", () => {
      const pid = Number(text)
      resume(pid > 0 ? Effect.succeed(pid) : Effect.fail("/bin/sh could not start it"))
    })
  })

const ready = (reported: Promise<unknown>) =>
  Effect.flatMap(Effect.promise(() => reported), (word) =>
    word === readyMessage
      ? Effect.void
      : Effect.fail(word === undefined ? "it exited" : `it said ${String(word)}`))

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
    const { reported, child } = yield* Effect.sync(() => orphan([program, successorFlag]))
    const pid = yield* pidOf(child)
    yield* ready(reported).pipe(
      Effect.timeoutOrElse({
        duration: readyTimeout,
        orElse: () => Effect.fail(`it was not ready in ${readyTimeout}`)
      }),
      Effect.andThen(give(child, server)),
      // An exited process may have passed its id on to another one.
      Effect.onError(() => Effect.ignore(Effect.try(() => child.connected && process.kill(pid))))
    )
    child.disconnect()
    return pid
  })
