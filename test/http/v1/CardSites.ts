import { Context, Effect, Layer } from "effect"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import { eventually } from "../../support/Eventually.ts"
import { fediverse, type TestInstance, type TestUser } from "../../support/Fediverse.ts"

// Tests read bodies of every shape.
// oxlint-disable-next-line typescript/no-explicit-any
export type Json = any

/** A web site on loopback: pages by path, and their requests. */
export interface WebServer {
  readonly url: string
  readonly pages: Map<string, Serve>
  readonly asked: (path: string) => ReadonlyArray<IncomingMessage>
}

type Serve = (request: IncomingMessage, response: ServerResponse) => void

/** Starts a server at a loopback address; returns its requests. */
export const machine = Effect.fnUntraced(function*(address: string, serve: Serve) {
  const requests: Array<IncomingMessage> = []
  const server = createServer((request, response) => {
    requests.push(request)
    serve(request, response)
  })
  yield* Effect.acquireRelease(
    Effect.promise(() => new Promise<void>((resolve) => server.listen(0, address, resolve))),
    () => Effect.sync(() => (server.closeAllConnections(), server.close()))
  )
  const bound = server.address()
  return { url: `http://${address}:${typeof bound === "object" && bound !== null ? bound.port : 0}`, requests }
})

export class World extends Context.Service<
  World,
  { readonly here: TestInstance; readonly there: TestInstance; readonly site: WebServer }
>()(
  "murmuration/test/http/v1/Cards/World"
) {}

export const world = Layer.effect(
  World,
  Effect.gen(function*() {
    const [here, there] = yield* fediverse(2)
    const pages: WebServer["pages"] = new Map()
    const found = yield* machine("127.0.0.1", (request, response) => {
      const page = pages.get(new URL(request.url ?? "", "http://site.test").pathname)
      if (page === undefined) response.writeHead(404).end()
      else page(request, response)
    })
    const asked = (path: string) => found.requests.filter(({ url }) => url === path)
    return World.of({ here: here!, there: there!, site: { url: found.url, pages, asked } })
  })
)

export const html = (body: string) => (_: IncomingMessage, response: ServerResponse) => {
  response.writeHead(200, { "content-type": "text/html; charset=utf-8" }).end(body)
}
export const page = (title: string, more = "") =>
  html(`<html lang="en"><head><meta property="og:title" content="${title}">${more}`)

export const statusOf = (person: TestUser, id: unknown) => person.ask("GET", `/api/v1/statuses/${id}`)
export const shown = (person: TestUser, id: unknown) =>
  Effect.map(eventually(statusOf(person, id), ({ card }: Json) => card !== null), ({ card }: Json) => card)
/** Makes all waiting fetches due now. */
export const hurried = ({ sql }: TestInstance) =>
  sql`UPDATE preview_cards SET due_at = ${new Date(0)} WHERE due_at IS NOT NULL
  AND claimed_until IS NULL`
/** Waits until no fetch is left. */
export const idle = ({ sql }: TestInstance) =>
  eventually(
    Effect.orDie(sql<{ n: number }>`SELECT count(*)::int AS n FROM preview_cards WHERE due_at IS NOT NULL`),
    ([row]) => row?.n === 0
  )

let named = 0
export const name = (what: string) => `${what}${++named}`
