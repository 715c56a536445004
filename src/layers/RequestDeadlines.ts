import type { IncomingMessage, ServerResponse } from "node:http"
import { takesFiles } from "../http/body/UploadedFiles.ts"

/**
 * Minimum average rate of an upload after the time that any request has, in bytes per second: slower than any line that
 * is used for uploads. It bounds the time of the largest one, an archive of 4 GiB, to six days.
 */
const uploadBytesPerSecondMin = 8_192

/** Response to a request that did not arrive in time, as Node writes it. */
const timedOut = "HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\r\n"

/** A request whose body has not arrived completely. */
interface Arrival {
  readonly response: ServerResponse
  /** Time of its headers, in milliseconds. */
  readonly since: number
  /** Bytes that its connection had received by then. */
  readonly bytesBefore: number
  readonly isUpload: boolean
}

const hasBody = ({ headers }: IncomingMessage) =>
  headers["transfer-encoding"] !== undefined || (headers["content-length"] ?? "0") !== "0"

/**
 * Closes connections whose requests do not arrive within `millisMax`; uploads have more time, as long as they arrive at
 * `uploadBytesPerSecondMin`. Node's own limit has one time for all requests. Returns a function that adds a request.
 */
export const boundRequests = (millisMax: number, checkMillis: number) => {
  const arriving = new Map<IncomingMessage, Arrival>()
  const isLate = ({ socket }: IncomingMessage, { bytesBefore, isUpload, since }: Arrival, now: number) => {
    const granted = isUpload ? (socket.bytesRead - bytesBefore) / uploadBytesPerSecondMin * 1_000 : 0
    return now - since > millisMax + granted
  }
  const check = () => {
    const now = performance.now()
    for (const [request, arrival] of arriving) {
      // A complete request is in time, even if its handler has not read it.
      if (request.complete) arriving.delete(request)
      if (request.complete || !isLate(request, arrival, now)) continue
      arriving.delete(request)
      const { socket } = request
      if (!arrival.response.headersSent && socket.writable) socket.write(timedOut)
      socket.destroy()
    }
  }
  /** Checks as long as there is something to check. */
  let scheduled = false
  const schedule = () => {
    if (scheduled || arriving.size === 0) return
    scheduled = true
    AbortSignal.timeout(checkMillis).addEventListener("abort", () => {
      scheduled = false
      check()
      schedule()
    }, { once: true })
  }
  return (request: IncomingMessage, response: ServerResponse) => {
    if (!hasBody(request)) return
    const path = (request.url ?? "").split("?", 1)[0] ?? ""
    arriving.set(request, {
      response,
      since: performance.now(),
      bytesBefore: request.socket.bytesRead,
      isUpload: takesFiles(request.method ?? "", path)
    })
    request.once("close", () => arriving.delete(request))
    schedule()
  }
}
