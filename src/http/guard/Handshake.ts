import { plainUrl } from "./PlainUrls.ts"

/** Path of the streams (streaming.md section 1). */
export const streamingPath = "/api/v1/streaming"
/** Path of the web client's stream: server-sent events for the browser's session. */
export const webStreamPath = "/web/stream"

interface Head {
  readonly method?: string | undefined
  readonly url?: string | undefined
  readonly headers: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>
}

/**
 * Returns true if a request opens a WebSocket on a streaming path (RFC 6455, section 4.1). Any other `Upgrade` is
 * ignored, and the request is handled and limited like all others (RFC 9110, section 7.8). Node calls this with the URL
 * as sent, later code with its normalised form: both get the same result.
 */
export const isHandshake = ({ headers, method, url = "" }: Head): boolean =>
  method === "GET" && String(headers["upgrade"] ?? "").toLowerCase() === "websocket" &&
  headers["sec-websocket-key"] !== undefined && isAtOrBelow(streamingPath, plainUrl(url))

const isAtOrBelow = (path: string, url: string): boolean => {
  if (!url.startsWith(path)) return false
  const next = url[path.length]
  return next === undefined || next === "/" || next === "?"
}

/** Returns true for the paths of streams. */
export const isStreaming = (url: string): boolean => isAtOrBelow(streamingPath, url) || isAtOrBelow(webStreamPath, url)
