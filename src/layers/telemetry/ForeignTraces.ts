import type { IncomingMessage, Server } from "node:http"

/** Headers by which a request continues a trace: W3C Trace Context and Zipkin's B3. */
const names = ["traceparent", "tracestate", "b3", "x-b3-flags", "x-b3-sampled", "x-b3-spanid", "x-b3-traceid"]

const strip = ({ headers }: IncomingMessage) => {
  for (const name of names) delete headers[name]
}

/**
 * Removes the trace of a client from its requests: a trace begins at this server. Otherwise clients would choose the
 * trace of their requests, or exempt them from tracing. Reverse proxies pass such headers on.
 */
export const ignoreForeignTraces = (server: Server): void => {
  server.prependListener("request", strip)
  server.prependListener("upgrade", strip)
}
