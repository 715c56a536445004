import { ServerResponse } from "node:http"
import { giveBack, readOnce } from "../services/OneTimeChunks.ts"

let waiting: Array<() => void> = []

const flush = () => {
  const ready = waiting
  waiting = []
  for (const end of ready) end()
}

/**
 * Characters from which a text is made bytes here. Node makes one string of the headers and a text, and bytes of that, which
 * copies a long one twice more.
 */
const longText = 16_384
const bytesOf = (chunk: unknown) =>
  typeof chunk === "string" && chunk.length >= longText ? readOnce(Buffer.from(chunk)) : chunk

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
        const bytes = typeof encoding === "string" ? chunk : bytesOf(chunk)
        // The system has them once the response has finished. Where it is cut off they are left to the collector.
        if (bytes instanceof Uint8Array) this.once("finish", () => giveBack(bytes))
        if (typeof encoding === "string") super.end(bytes, encoding, callback)
        else super.end(bytes, encoding ?? callback)
      } catch (error) {
        // Nobody can answer any more in its place; others' answers must still go out.
        this.destroy(error instanceof Error ? error : undefined)
      }
    })
    return this
  }
}
