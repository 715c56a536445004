import { ServerResponse } from "node:http"
import { freeChunk } from "../services/runtime/OneTimeChunks.ts"
import * as UnreadResponses from "./UnreadResponses.ts"

/** Maximum bytes of responses that wait for their clients, per process. */
export const unreadBytesMax = 268_435_456
const unread = UnreadResponses.make(unreadBytesMax)

let waiting: Array<() => void> = []

const flush = () => {
  const ready = waiting
  waiting = []
  for (const end of ready) end()
}

/**
 * Response whose end waits until the event loop has served everything else, and is then sent with all other pending
 * ends. Writing to a connection wakes its reader, which costs more than computing a small response. A client or proxy
 * that is already awake costs nothing more.
 *
 * @fastPath batched-responses
 */
export class BatchedResponse extends ServerResponse {
  override end(chunk?: unknown, encoding?: BufferEncoding | (() => void), callback?: () => void): this {
    if (waiting.length === 0) setImmediate(flush)
    waiting.push(() => {
      try {
        // The system has the bytes once the response has finished. If the response is cut off, the garbage collector
        // frees them.
        if (chunk instanceof Uint8Array) this.once("finish", () => freeChunk(chunk))
        if (typeof encoding === "string") super.end(chunk, encoding, callback)
        else super.end(chunk, encoding ?? callback)
        unread.add(this)
      } catch (error) {
        // The response cannot be replaced any more, and the other responses must still be sent.
        this.destroy(error instanceof Error ? error : undefined)
      }
    })
    return this
  }
}
