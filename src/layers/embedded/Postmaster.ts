import { type Duration, Effect, FileSystem, Option, Path, Schedule } from "effect"
import { spawn } from "node:child_process"
import { connect } from "node:net"
import { traced } from "../../services/runtime/Traced.ts"
import { OperatorError } from "../OperatorError.ts"
import type { Binaries } from "./Binaries.ts"
import { type Durability, type Listen, settings, socketPort } from "./PostgresSettings.ts"
import * as Processes from "./Processes.ts"
import * as RunAs from "./RunAs.ts"

/** Address that clients connect to. */
export type Endpoint = { readonly path: string } | { readonly host: string; readonly port: number }

/** A running Postgres: its main process, its address, and an effect that completes with the reason when it ends. */
interface Postmaster {
  readonly pid: number
  readonly endpoint: Endpoint
  readonly ended: Effect.Effect<string>
  /** Detaches from the process, which runs on: this process need not wait for it. */
  readonly detach: Effect.Effect<void>
}

/** Lines of Postgres' log that are kept, to report why it ended. */
const logLinesKept = 20
const pollInterval = "50 millis"
/** Maximum time to get ready. Crash recovery replays at most `max_wal_size`, which takes far less. */
const readyTimeout = "5 minutes"
/** Timeout of a fast shutdown. Afterwards Postgres is stopped immediately, and recovers at its next start. */
const stopTimeout = "30 seconds"

export const socketFile = (folder: string, port = socketPort) => `${folder}/.s.PGSQL.${port}`

const endpointOf = (listen: Listen): Endpoint =>
  "port" in listen ? { host: "127.0.0.1", port: listen.port } : { path: socketFile(listen.folder) }

const responds = (endpoint: Endpoint) =>
  Effect.callback<boolean>((resume) => {
    const socket = connect(endpoint)
    const end = (value: boolean) => {
      socket.destroy()
      resume(Effect.succeed(value))
    }
    socket.once("connect", () => end(true)).once("error", () => end(false))
    return Effect.sync(() => socket.destroy())
  })

/** Reads `postmaster.pid`: process, data folder, start, port, socket folder, address, memory, status. */
const lockFile = Effect.fnUntraced(function*(folder: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const text = yield* Effect.orElseSucceed(fs.readFileString(path.join(folder, "postmaster.pid")), () => "")
  const [pid, , , port, sockets = "", address, , status] = text.split("\n").map((line) => line.trim())
  if (pid === undefined || pid === "" || port === undefined) return Option.none()
  const listen: Listen = address === "" ? { folder: sockets } : { port: Number(port) }
  return Option.some({ pid: Number(pid), endpoint: endpointOf(listen), ready: status === "ready" })
})

/** Completes when the Postgres with this process id accepts connections; a dead one may have left its file. */
const ready = (folder: string, pid: number | undefined) =>
  Effect.repeat(lockFile(folder), {
    schedule: Schedule.spaced(pollInterval),
    until: (file) => Option.isSome(file) && file.value.pid === pid && file.value.ready
  })

/**
 * Returns the Postgres that already runs on this folder, whoever started it. A process id alone proves nothing, so it
 * must accept connections.
 */
export const find = traced("Postmaster.find")(function*(folder: string) {
  const file = yield* lockFile(folder)
  if (Option.isNone(file)) return Option.none()
  const { endpoint, pid } = file.value
  if (!(yield* Processes.alive(pid)) || !(yield* responds(endpoint))) return Option.none()
  yield* ready(folder, pid).pipe(Effect.timeoutOrElse({ duration: readyTimeout, orElse: () => Effect.void }))
  const ended = Effect.repeat(Processes.alive(pid), {
    schedule: Schedule.spaced("1 second"),
    while: (isAlive) => isAlive
  })
  return Option.some<Postmaster>({ pid, endpoint, ended: Effect.as(ended, "it is gone"), detach: Effect.void })
})

/**
 * Starts Postgres and waits until it accepts connections. It gets a session of its own, so that Ctrl-C for the server
 * does not reach it.
 */
export const start = traced("Postmaster.start")(
  function*(
    folder: string,
    binaries: Binaries,
    runAs: RunAs.RunAs,
    listen: Listen,
    durability: Durability,
    timeout: Duration.Input = readyTimeout
  ) {
    const { args, options, program } = RunAs.command(runAs, binaries.postgres, settings(folder, listen, durability))
    const log: Array<string> = []
    const child = spawn(program, args, {
      ...options,
      cwd: "/",
      detached: true,
      env: { LC_ALL: "C", PATH: "/usr/bin:/bin" },
      stdio: ["ignore", "ignore", "pipe"]
    })
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      log.push(...text.split("\n").filter((line) => line !== ""))
      log.splice(0, log.length - logLinesKept)
    })
    const outcome = new Promise<string>((resolve) => {
      child.once("error", (error) => resolve(error.message))
      child.once("exit", (code, signal) => resolve([`it exited with ${signal ?? `code ${code}`}`, ...log].join("\n")))
    })
    const ended = Effect.promise(() => outcome)
    // Waits for the end: the caller may delete the folder afterwards.
    const kill = Effect.suspend(() => (child.kill("SIGQUIT") ? ended : Effect.void))
    yield* Effect.raceFirst(
      Effect.asVoid(ready(folder, child.pid)),
      Effect.flatMap(ended, (reason) => new OperatorError({ message: `Postgres did not start: ${reason}` }))
    ).pipe(
      Effect.timeoutOrElse({
        duration: timeout,
        orElse: () => new OperatorError({ message: `Postgres was not ready within ${String(timeout)}.` })
      }),
      Effect.onError(() => kill)
    )
    const detach = Effect.sync(() => {
      child.stderr.destroy()
      child.unref()
    })
    return { pid: child.pid ?? 0, endpoint: endpointOf(listen), ended, detach } satisfies Postmaster
  }
)

/** Stops Postgres cleanly: sessions are ended, everything is written. */
export const stop = traced("Postmaster.stop")(function*(postmaster: Postmaster) {
  const signal = (name: "SIGINT" | "SIGQUIT") => Effect.ignore(Effect.try(() => process.kill(postmaster.pid, name)))
  yield* signal("SIGINT")
  yield* postmaster.ended.pipe(
    Effect.timeoutOrElse({ duration: stopTimeout, orElse: () => Effect.andThen(signal("SIGQUIT"), postmaster.ended) })
  )
})

/** Kills the Postgres that an interrupted command left on a folder, which is deleted afterwards. */
export const kill = traced("Postmaster.kill")(function*(folder: string) {
  const file = yield* lockFile(folder)
  if (Option.isNone(file)) return
  const { endpoint, pid } = file.value
  if (!(yield* Processes.alive(pid)) || !(yield* responds(endpoint))) return
  yield* Effect.ignore(Effect.try(() => process.kill(pid, "SIGQUIT")))
  yield* Effect.repeat(Processes.alive(pid), { schedule: Schedule.spaced(pollInterval), while: (isAlive) => isAlive })
})
