import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import { isHandshake } from "../http/guard/Handshake.ts"
import { BatchedResponse } from "./BatchedResponse.ts"
import { boundRequests } from "./RequestDeadlines.ts"

/** Timeouts of a connection, in milliseconds. */
const times = {
  /** Time for a whole request to arrive, body included; uploads have more (`RequestDeadlines.ts`). */
  requestTimeout: 60_000,
  /** Time for a request's headers to arrive. */
  headersTimeout: 15_000,
  /** Interval at which these two timeouts are checked. */
  connectionsCheckingInterval: 5_000,
  /** Idle time between requests; longer than the 60 s of common reverse proxies. */
  keepAliveTimeout: 65_000,
  /** Time for the rest of a body whose response was sent early, such as a refusal. */
  lateBodyTimeout: 5_000,
  /** Time without any progress: a client that does not read its response keeps it in memory. */
  idleTimeout: 90_000
}
/** Maximum connections of this process, streams included; beyond it new ones are closed. */
export const connectionsMax = 32_768
const headerBytesMax = 16_384
const headersCountMax = 100
/** Maximum requests that wait during a handover; further ones get 503. */
const waitingMax = 1_000

/**
 * Node's HTTP server. It responds 503 itself while no handler is attached; Node would leave such requests open. If it
 * is `patient`, early requests wait for the handler.
 */
export const make = (
  patient = false,
  { lateBodyTimeout, idleTimeout, requestTimeout, ...timeouts } = times
): Server => {
  const server = createServer({
    ServerResponse: BatchedResponse,
    ...timeouts,
    requestTimeout: 0,
    maxHeaderSize: headerBytesMax,
    shouldUpgradeCallback: isHandshake
  })
  server.maxHeadersCount = headersCountMax
  server.maxConnections = connectionsMax
  server.timeout = idleTimeout
  const waiting: Array<[IncomingMessage, ServerResponse]> = []
  const boundRequest = boundRequests(requestTimeout, timeouts.connectionsCheckingInterval)
  let starting = patient
  server.on("request", (request, response) => {
    boundRequest(request, response)
    boundRest(request, response, lateBodyTimeout)
    if (server.listenerCount("request") > 1) return
    if (starting && waiting.length < waitingMax) return void waiting.push([request, response])
    response.writeHead(503, { "content-type": "application/json", "retry-after": "1", connection: "close" })
    response.end(JSON.stringify({ error: "The server is starting or stopping" }))
  })
  server.on("newListener", (event) => {
    if (event !== "request") return
    starting = false
    // Node emits `newListener` before it adds the listener.
    queueMicrotask(() => {
      for (const [request, response] of waiting.splice(0)) server.emit("request", request, response)
    })
  })
  return server
}

/** Closes a connection with a response whose request body still arrives after `millisMax`. */
const boundRest = (request: IncomingMessage, response: ServerResponse, millisMax: number) => {
  response.once("finish", () => {
    if (request.complete) return
    // Not closed at once: a client that is still sending would lose the response.
    AbortSignal.timeout(millisMax).addEventListener("abort", () => {
      if (!request.complete) request.socket.destroy()
    }, { once: true })
  })
}
