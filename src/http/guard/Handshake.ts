/** Where streams are (streaming.md section 1). */
export const streamingPath = "/api/v1/streaming"

interface Head {
  readonly method?: string | undefined
  readonly url?: string | undefined
  readonly headers: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>
}

/**
 * Whether a request opens a WebSocket where this server has them (RFC 6455, section 4.1). Any other `Upgrade` means nothing
 * here, and the request is one like all others (RFC 9110, section 7.8), with their limits.
 */
export const isHandshake = ({ headers, method, url = "" }: Head): boolean =>
  method === "GET" && isStreaming(url) && String(headers["upgrade"] ?? "").toLowerCase() === "websocket" &&
  headers["sec-websocket-key"] !== undefined

/** Whether an address is the one of streams or below it. */
export const isStreaming = (url: string): boolean => {
  if (!url.startsWith(streamingPath)) return false
  const next = url[streamingPath.length]
  return next === undefined || next === "/" || next === "?"
}
