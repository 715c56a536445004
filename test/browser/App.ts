import { Effect } from "effect"
import { createServer } from "node:http"
import { TestServer } from "../support/Server.ts"

/** An app with a server on this machine; `opened` is the URL at which the browser returned to it. */
export const app = Effect.gen(function*() {
  const { promise: opened, resolve } = Promise.withResolvers<URL>()
  const server = createServer((request, response) => {
    resolve(new URL(request.url ?? "", "http://app.example"))
    response.writeHead(200, { "content-type": "text/html" }).end("<title>The app</title>Back in the app")
  })
  yield* Effect.acquireRelease(
    Effect.promise(() => new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening))),
    () => Effect.sync(() => server.closeAllConnections() ?? server.close())
  )
  const address = server.address()
  return { url: `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}/back`, opened }
})

interface Registered {
  readonly client_id: string
  readonly client_secret: string
}

/**
 * Registers a client. Returns the URL of its authorization request, and a function that exchanges a code for a token.
 */
export const register = Effect.fnUntraced(function*(redirect_uri: string, scope: string) {
  const { baseUrl, fetch } = yield* TestServer
  const wish = { client_name: "Tusker", redirect_uris: redirect_uri, scopes: scope, website: "https://app.example" }
  const reply = yield* fetch("/api/v1/apps", { method: "POST", json: wish })
  const { client_id, client_secret } = (yield* Effect.promise(() => reply.json())) as Registered
  const query = new URLSearchParams({ client_id, redirect_uri, response_type: "code", scope, state: "7" })
  return {
    url: `${baseUrl}/oauth/authorize?${query}`,
    exchange: (code: string | null) =>
      fetch("/oauth/token", {
        method: "POST",
        json: { grant_type: "authorization_code", code, client_id, client_secret, redirect_uri }
      })
  }
})
