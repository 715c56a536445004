import type { ServerResponse } from "node:http"

/**
 * Limits the total bytes of responses that clients have not read to `bytesMax`. A client that sends requests without
 * reading keeps each response in memory. Beyond the limit, the connection of the oldest unread response is closed.
 */
export const make = (bytesMax: number) => {
  /** Bytes per response, oldest first. */
  const waiting = new Map<ServerResponse, number>()
  let bytes = 0

  const forget = (response: ServerResponse) => {
    bytes -= waiting.get(response) ?? 0
    waiting.delete(response)
  }

  return {
    /** Counts the bytes of an ended response that the system has not accepted yet. */
    add: (response: ServerResponse) => {
      const unread = response.writableLength
      if (unread === 0 || response.destroyed) return
      waiting.set(response, unread)
      bytes += unread
      response.once("close", () => forget(response))
      for (const [oldest] of waiting) {
        if (bytes <= bytesMax) break
        forget(oldest)
        // The response has no socket of its own until the one before it is read.
        oldest.req.socket.destroy()
      }
    }
  }
}
