import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import { isHandshake } from "../http/guard/Handshake.ts"
import { BatchedResponse } from "./BatchedResponse.ts"

/** What a connection has time for, in milliseconds. */
const times = {
  /** For a whole request to arrive, body included. */
  requestTimeout: 60_000,
  /** For a request's headers to arrive. */
  headersTimeout: 15_000,
  /** How often Node looks for requests over these limits. */
  connectionsCheckingInterval: 5_000,
  /** Between requests; longer than the 60 s of common reverse proxies. */
  keepAliveTimeout: 65_000,
  /** For the rest of a body whose request has its response already: refused before the end of it. */
  answeredBodyTimeout: 5_000,
  /** In which something has to move: a client that reads no answer holds it in memory. */
  idleTimeout: 90_000
}
/** Connections to this process, streams included; beyond it new ones are closed. */
export const connectionsMax = 32_768
const headerBytesMax = 16_384
const headersCountMax = 100
/** Requests that wait for a server that takes over; one more is told to come back. */
const waitingMax = 1_000

/**
 * Node's HTTP server. While nothing serves yet, or no longer, it answers 503 itself. Node would leave the request
 * without an answer; where it is `patient`, what is asked before waits until something serves.
 */
export const make = (patient = false, { answeredBodyTimeout, idleTimeout, ...timeouts } = times): Server => {
  const server = createServer({
    ServerResponse: BatchedResponse,
    ...timeouts,
    maxHeaderSize: headerBytesMax,
    shouldUpgradeCallback: isHandshake
  })
  server.maxHeadersCount = headersCountMax
  server.maxConnections = connectionsMax
  server.timeout = idleTimeout
  const waiting: Array<[IncomingMessage, ServerResponse]> = []
  let starting = patient
  server.on("request", (request, response) => {
    boundRest(request, response, answeredBodyTimeout)
    if (server.listenerCount("request") > 1) return
    if (starting && waiting.length < waitingMax) return void waiting.push([request, response])
    response.writeHead(503, { "content-type": "application/json", "retry-after": "1", connection: "close" })
    response.end(JSON.stringify({ error: "The server is starting or stopping" }))
  })
  server.on("newListener", (event) => {
    if (event !== "request") return
    starting = false
    // It is told before it has the listener.
    queueMicrotask(() => {
      for (const [request, response] of waiting.splice(0)) server.emit("request", request, response)
    })
  })
  return server
}

/** Closes a connection whose request has its response, and whose body still arrives after `millisMax`. */
const boundRest = (request: IncomingMessage, response: ServerResponse, millisMax: number) => {
  response.once("finish", () => {
    if (request.complete) return
    // Not closed at once: a client that still sends would lose the response.
    AbortSignal.timeout(millisMax).addEventListener("abort", () => {
      if (!request.complete) request.socket.destroy()
    }, { once: true })
  })
}
