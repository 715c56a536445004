import { assert, layer } from "@effect/vitest"
import { Deferred, Effect } from "effect"
import { createServer, type ServerResponse } from "node:http"
import { imported, importServerWith } from "../services/transfers/ListTransfers.ts"
import { newPerson } from "../support/Api.ts"

/** Accounts of another server that the lists name. */
const accountsPerHost = 12

/**
 * Starts a server with accounts, which counts the requests that it has not responded to. It responds to a request when
 * `ready` ends.
 */
const hostWith = (ready: (asked: number) => Promise<void>) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const counts = { asked: 0, open: 0, openMax: 0 }
      const documentAt = (origin: string, { pathname, searchParams }: URL) => {
        const name = pathname.startsWith("/users/")
          ? pathname.slice("/users/".length)
          : /^acct:(\w+)@/.exec(searchParams.get("resource") ?? "")?.[1]
        const id = `${origin}/users/${name}`
        return pathname === "/.well-known/webfinger"
          ? {
            subject: `acct:${name}@${new URL(origin).host}`,
            links: [{ rel: "self", type: "application/activity+json", href: id }]
          }
          : {
            "@context": "https://www.w3.org/ns/activitystreams",
            id,
            type: "Person",
            preferredUsername: name,
            inbox: `${id}/inbox`
          }
      }
      const send = (response: ServerResponse, origin: string, url: URL) => {
        const isFinger = url.pathname === "/.well-known/webfinger"
        response.setHeader("content-type", isFinger ? "application/jrd+json" : "application/activity+json")
        response.end(JSON.stringify(documentAt(origin, url)))
      }
      const server = createServer((request, response) => {
        const origin = `http://${request.headers.host}`
        counts.asked++
        counts.open++
        counts.openMax = Math.max(counts.openMax, counts.open)
        response.on("close", () => counts.open--)
        void ready(counts.asked).then(() => send(response, origin, new URL(request.url ?? "/", origin)))
      })
      await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve))
      const address = server.address()
      const port = typeof address === "object" && address !== null ? address.port : 0
      return { server, counts, host: `127.0.0.1:${port}` }
    }),
    ({ server }) =>
      Effect.sync(() => {
        server.closeAllConnections()
        server.close()
      })
  )

const handlesAt = (host: string) => Array.from({ length: accountsPerHost }, (_, n) => `person${n}@${host}`)

layer(importServerWith({ OUTBOUND_ALLOW: "127.0.0.0/8" }), { excludeTestServices: true })(
  "look-ups of an import",
  (it) => {
    it.effect("ask one server for one account at a time, and several servers at the same time", () =>
      Effect.gen(function*() {
        let reached = 0
        const allReached = yield* Deferred.make<void>()
        const context = yield* Effect.context<never>()
        const waits = (asked: number) => {
          if (asked === 1 && ++reached === 3) Effect.runSyncWith(context)(Deferred.succeed(allReached, undefined))
          return Effect.runPromiseWith(context)(Deferred.await(allReached))
        }
        const hosts = yield* Effect.all([hostWith(waits), hostWith(waits), hostWith(waits)])
        const reader = yield* newPerson("ida")
        const lines = hosts.flatMap(({ host }) => handlesAt(host))
        const mixed = Array.from({ length: lines.length }, (_, at) => lines[(at * 5) % lines.length])
        const done = yield* imported(reader, "mutes", mixed.join("\n"))
        assert.deepInclude(done, { state: "finished", total: 36, added: 36, failed: 0 })
        assert.deepStrictEqual(hosts.map(({ counts }) => counts.openMax), [1, 1, 1])
        assert.isAtLeast(hosts[0]!.counts.asked, accountsPerHost)
      }))
  }
)
