import { Effect } from "effect"
import { Server } from "node:net"
import { readyMessage, successorFlag } from "./HandoverMessages.ts"

/** Returns true if this process was started by the server that it succeeds. */
export const exists = (): boolean => process.argv.includes(successorFlag) && process.connected

/** Asks the predecessor for the open port; undefined if the predecessor is gone. */
export const port = Effect.callback<Server | undefined>((resume) => {
  const end = (found: Server | undefined) => {
    resume(Effect.succeed(found))
    if (process.connected) process.disconnect()
  }
  process.once("message", (_word, handle) => end(handle instanceof Server ? handle : undefined))
  process.once("disconnect", () => end(undefined))
  if (process.send === undefined) return end(undefined)
  process.send(readyMessage)
})
