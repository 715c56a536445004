import type { IncomingMessage } from "node:http"

const bodyOf = async (request: IncomingMessage) => {
  const chunks: Array<Uint8Array> = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks)
}

/** Converts a Node request to a web `Request`. */
export const webRequest = async (request: IncomingMessage, origin: string) => {
  const headers = new Headers()
  for (const [name, value] of Object.entries(request.headers)) headers.set(name, [value].flat().join(", "))
  const method = request.method ?? "GET"
  return new Request(new URL(request.url ?? "/", origin), {
    method,
    headers,
    ...(method === "POST" ? { body: await bodyOf(request) } : {})
  })
}
