import type { ServerResponse } from "node:http"
import { addressKey } from "../http/guard/ClientAddresses.ts"

/** Unread responses of one address: bytes per response, oldest first, and their sum. */
interface Share {
  readonly waiting: Map<ServerResponse, number>
  bytes: number
}

/**
 * Limits the total bytes of responses that clients have not read to `bytesMax`. A client that sends requests without
 * reading keeps each response in memory. Beyond the limit, the connection of the oldest unread response is closed, of
 * the address that has most: one that reads slowly does not pay for others. An IPv6 address counts as its /64.
 */
export const make = (bytesMax: number) => {
  const shares = new Map<string, Share>()
  let bytes = 0
  const isFull = () => bytes > bytesMax

  const forget = (address: string, response: ServerResponse) => {
    const share = shares.get(address)
    const unread = share?.waiting.get(response)
    if (share === undefined || unread === undefined) return
    bytes -= unread
    share.bytes -= unread
    share.waiting.delete(response)
    if (share.waiting.size === 0) shares.delete(address)
  }

  /** Closes the connection of the oldest response of the largest share. */
  const closeOne = () => {
    let [largest] = shares
    for (const entry of shares) if (largest === undefined || entry[1].bytes > largest[1].bytes) largest = entry
    const [address, share] = largest ?? []
    const [oldest] = share?.waiting.keys() ?? []
    if (address === undefined || oldest === undefined) return
    forget(address, oldest)
    // The response has no socket of its own until the one before it is read.
    oldest.req.socket.destroy()
  }

  return {
    /** Counts the bytes of an ended response that the system has not accepted yet. */
    add: (response: ServerResponse) => {
      const unread = response.writableLength
      if (unread === 0 || response.destroyed) return
      const address = addressKey(response.req.socket.remoteAddress ?? "")
      const share = shares.get(address) ?? { waiting: new Map<ServerResponse, number>(), bytes: 0 }
      shares.set(address, share)
      share.waiting.set(response, unread)
      share.bytes += unread
      bytes += unread
      response.once("close", () => forget(address, response))
      while (isFull()) closeOne()
    }
  }
}
