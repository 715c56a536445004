import { Config, Effect, Option } from "effect"
import { spawn } from "node:child_process"

/** Time that systemd gets to process a message. */
const notifyTimeout = "10 seconds"

/**
 * Runs `systemd-notify`, which returns when systemd has processed the message. Node has no datagram sockets of the unix
 * domain, so it cannot send the message itself. Fails with a reason.
 */
const run = (assignments: ReadonlyArray<string>) =>
  Effect.callback<void, string>((resume) => {
    const child = spawn("systemd-notify", assignments, { stdio: "ignore" })
    child.once("error", ({ message }) => resume(Effect.fail(message)))
    child.once("exit", (code, signal) =>
      resume(code === 0 ? Effect.void : Effect.fail(`it exited with ${signal ?? `code ${code}`}`)))
    return Effect.sync(() =>
      child.kill("SIGKILL")
    )
  }).pipe(
    Effect.timeoutOrElse({ duration: notifyTimeout, orElse: () => Effect.fail(`it took over ${notifyTimeout}`) })
  )

const variable = (name: string) => Effect.orElseSucceed(Config.option(Config.String(name)), Option.none<string>)

/**
 * Sends assignments (sd_notify(3)) to systemd if it started this server by a unit with `Type=notify`. A failure is
 * logged: the server runs on, but systemd may stop it.
 */
const notify = (...assignments: ReadonlyArray<string>) =>
  Effect.flatMap(variable("NOTIFY_SOCKET"), (socket) =>
    Option.isNone(socket)
      ? Effect.void
      : Effect.catch(run(assignments), (reason) =>
        Effect.logWarning(
          `systemd-notify could not tell systemd ${assignments.join(" ")}: ${reason}. Units with Type=notify need it.`
        )))

/** Announces another process as the service's main process; without this, systemd ends it with the present one. */
export const announceSuccessor = (pid: number): Effect.Effect<void> => notify(`MAINPID=${pid}`)

/** Announces that the server stops. */
export const announceStop: Effect.Effect<void> = notify("STOPPING=1")

/**
 * Announces that this process serves, and then, at half the interval of the unit's `WatchdogSec`, that its event loop
 * runs. Ends with the scope.
 */
export const announceReady = Effect.gen(function*() {
  yield* notify("READY=1", `MAINPID=${process.pid}`)
  const interval = Number(Option.getOrElse(yield* variable("WATCHDOG_USEC"), () => "0"))
  if (!(interval > 0)) return
  yield* Effect.forkScoped(Effect.forever(Effect.delay(notify("WATCHDOG=1"), interval / 2_000)))
})
