import { compareSync } from "bcryptjs"
import { type MessagePort, parentPort } from "node:worker_threads"

/* Entry point of the thread of `BcryptThread`. */

/** Question of the server; `reply` takes true if the password has this hash. */
interface Question {
  readonly password: string
  readonly stored: string
  readonly reply: MessagePort
}

parentPort?.on(
  "message",
  ({ password, reply, stored }: Question) => reply.postMessage(compareSync(password, stored), [])
)
