import { Effect, RcRef } from "effect"
import { MessageChannel, Worker } from "node:worker_threads"

/** Idle time after which the thread ends. */
const idle = "1 minute"

const open = Effect.acquireRelease(
  Effect.sync(() => {
    const worker = new Worker(new URL("BcryptWorker.ts", import.meta.url))
    // An 'error' event without a listener would end the process; the 'exit' event follows it.
    worker.on("error", () => {})
    // The thread alone does not keep a process alive.
    worker.unref()
    return worker
  }),
  (worker) => Effect.promise(() => worker.terminate())
)

/** Thread that ended without a result, for example for lack of memory. */
const ended = new Error("The thread for bcrypt ended")

/** Asks the thread once; the result for an interrupted caller is dropped. */
const ask = (worker: Worker, password: string, stored: string) =>
  Effect.callback<boolean, Error>((resume) => {
    // Negative after the end of the thread.
    if (worker.threadId < 0) return resume(Effect.fail(ended))
    const { port1, port2 } = new MessageChannel()
    const close = () => {
      worker.off("exit", fail)
      port1.close()
    }
    const fail = () => {
      close()
      resume(Effect.fail(ended))
    }
    worker.once("exit", fail)
    port1.once("message", (matches) => {
      close()
      resume(Effect.succeed(matches === true))
    })
    worker.postMessage({ password, stored, reply: port2 }, [port2])
    return Effect.sync(close)
  })

/**
 * Returns a function that compares a password with a bcrypt hash on a thread of its own: bcrypt in JavaScript takes
 * about a tenth of a second, during which the event loop would stand still. The thread starts with the first comparison.
 */
export const make = Effect.map(
  RcRef.make({ acquire: open, idleTimeToLive: idle }),
  (thread) => (password: string, stored: string): Effect.Effect<boolean> =>
    Effect.scoped(Effect.flatMap(RcRef.get(thread), (worker) => ask(worker, password, stored))).pipe(
      Effect.tapError(() => RcRef.invalidate(thread)),
      Effect.retry({ times: 1 }),
      Effect.orDie
    )
)
