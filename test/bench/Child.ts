import { type ChildProcess, spawn } from "node:child_process"
import { join } from "node:path"
import { ours } from "./Checkout.ts"

/** A Node process that responds to one order at a time over its channel. */
export interface Child<Order> {
  readonly process: ChildProcess
  readonly pid: number
  readonly ended: Promise<number | null>
  /** Output of the process, for failure messages. */
  readonly output: () => string
  readonly ask: (order: Order) => Promise<unknown>
}

/** Starts a Node process of a checkout. Its environment has only PATH and the given variables. */
export const start = <Order extends object>(
  args: ReadonlyArray<string>,
  variables: Record<string, string> = {},
  { node, root } = ours
): Child<Order> => {
  const child = spawn(node, args, {
    cwd: root,
    env: { PATH: process.env["PATH"], NODE_COMPILE_CACHE: join(root, "node_modules/.cache/node"), ...variables },
    stdio: ["ignore", "pipe", "pipe", "ipc"]
  })
  let output = ""
  const keep = (text: unknown) => output = (output + String(text)).slice(-10_000)
  child.stdout?.on("data", keep)
  child.stderr?.on("data", keep)
  const ended = new Promise<number | null>((resolve) => child.once("exit", resolve))
  const ask = (order: Order) =>
    new Promise<unknown>((resolve, reject) => {
      const gone = () => reject(new Error(`The process ended: ${output}`))
      child.once("exit", gone)
      child.once("message", (message: { readonly reply?: unknown; readonly error?: string }) => {
        child.off("exit", gone)
        if (message.error === undefined) resolve(message.reply)
        else reject(new Error(message.error))
      })
      child.send(order)
    })
  return { process: child, pid: child.pid ?? 0, ended, output: () => output, ask }
}
