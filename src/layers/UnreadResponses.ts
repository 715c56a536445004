import type { ServerResponse } from "node:http"

/**
 * Keeps the bytes of responses that wait for their clients below `bytesMax`: a client that sends requests and reads nothing
 * has each response held in memory. Beyond the bound the connection goes whose response has waited for longest.
 */
export const make = (bytesMax: number) => {
  /** Bytes by response, the one that has waited for longest first. */
  const waiting = new Map<ServerResponse, number>()
  let bytes = 0

  const forget = (response: ServerResponse) => {
    bytes -= waiting.get(response) ?? 0
    waiting.delete(response)
  }

  return {
    /** Counts what the system did not take of a response that has ended. */
    add: (response: ServerResponse) => {
      const unread = response.writableLength
      if (unread === 0 || response.destroyed) return
      waiting.set(response, unread)
      bytes += unread
      response.once("close", () => forget(response))
      for (const [oldest] of waiting) {
        if (bytes <= bytesMax) break
        forget(oldest)
        // It has no socket of its own while the one before it is unread.
        oldest.req.socket.destroy()
      }
    }
  }
}
