import { Effect } from "effect"
import { createServer, type IncomingHttpHeaders, request, type RequestListener } from "node:http"

/** Client address that the proxy reports, from a network for examples (RFC 5737). */
const client = "198.51.100.7"

const listening = (listener: RequestListener) =>
  Effect.acquireRelease(
    Effect.callback<{ readonly port: number; readonly close: () => void }>((resume) => {
      const server = createServer(listener)
      server.listen(0, "127.0.0.1", () => {
        const address = server.address()
        const port = typeof address === "object" && address !== null ? address.port : 0
        const close = () => {
          server.closeAllConnections()
          server.close()
        }
        resume(Effect.succeed({ port, close }))
      })
    }),
    ({ close }) => Effect.sync(close)
  )

/** Starts a reverse proxy at a port of 127.0.0.1; `change` replaces the headers that it forwards. */
export const proxyTo = Effect.fnUntraced(function*(port: number) {
  let changed = (headers: IncomingHttpHeaders): IncomingHttpHeaders => headers
  const proxy = yield* listening((incoming, response) => {
    const headers = changed({ ...incoming.headers, "x-forwarded-for": client, "x-forwarded-proto": "https" })
    const passed = request(
      { host: "127.0.0.1", port, path: incoming.url, method: incoming.method, headers },
      (reply) => {
        response.writeHead(reply.statusCode ?? 502, reply.headers)
        reply.pipe(response)
      }
    )
    passed.once("error", () => response.writeHead(502).end())
    incoming.pipe(passed)
  })
  return {
    port: proxy.port,
    change: (change: typeof changed) => {
      changed = change
    }
  }
})

/** Starts an HTTP service at a port of 127.0.0.1 with a fixed reply per path. */
export const fixedReplies = (reply: (path: string) => { readonly status: number; readonly body: string }) =>
  Effect.map(
    listening((incoming, response) => {
      const { body, status } = reply(incoming.url ?? "/")
      incoming.resume()
      response.writeHead(status, { "content-type": "application/json" }).end(body)
    }),
    ({ port }) => port
  )
