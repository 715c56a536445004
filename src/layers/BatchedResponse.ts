import { ServerResponse } from "node:http"
import { giveBack } from "../services/OneTimeChunks.ts"
import * as UnreadResponses from "./UnreadResponses.ts"

/** Bytes of responses of this process that wait for their clients. */
export const unreadBytesMax = 268_435_456
const unread = UnreadResponses.make(unreadBytesMax)

let waiting: Array<() => void> = []

const flush = () => {
  const ready = waiting
  waiting = []
  for (const end of ready) end()
}

/**
 * A response whose end waits until the event loop has served everything else. It goes out together with the ends of all
 * the others. To write to a connection wakes up who listens there. That costs more than to make a small answer; a
 * client or proxy that is awake already costs nothing more.
 */
export class BatchedResponse extends ServerResponse {
  override end(chunk?: unknown, encoding?: BufferEncoding | (() => void), callback?: () => void): this {
    if (waiting.length === 0) setImmediate(flush)
    waiting.push(() => {
      try {
        // The system has the bytes once the response has finished. Where it is cut off they are left to the collector.
        if (chunk instanceof Uint8Array) this.once("finish", () => giveBack(chunk))
        if (typeof encoding === "string") super.end(chunk, encoding, callback)
        else super.end(chunk, encoding ?? callback)
        unread.add(this)
      } catch (error) {
        // Nobody can answer any more in its place; others' answers must still go out.
        this.destroy(error instanceof Error ? error : undefined)
      }
    })
    return this
  }
}
