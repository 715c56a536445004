import { NodeServices } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import { Effect, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { startCollector } from "../safety/Collector.ts"
import { redisUrl } from "../support/RedisServer.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { pathOf, spansOf } from "../support/Traces.ts"
import { idOf } from "./Load.ts"
import { makeAccounts, request, startNode } from "./Nodes.ts"
import { addRemoteFollowers, remoteHosts } from "./RemoteHosts.ts"

/** So many that each of two nodes runs actors of some accounts, and of some hosts. */
const authors = 8
const hostsCount = 12

/** Spans of a way that the test names; statements and services are between them. */
const stations = new Set([
  "POST",
  "Account.Do",
  "Account.Publish",
  "Fanout.slice",
  "DeliveryRound.attempt",
  "Outbound.post"
])
const way = "POST > Account.Do > Account.Publish > Fanout.slice > Fanout.slice > DeliveryRound.attempt > Outbound.post"

layer(TestDatabase.layer, { excludeTestServices: true })("traces of a cluster", (it) => {
  it.effect(
    "one trace leads from a request at one node over the actor on another to its deliveries, from any node (F280)",
    () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const { url } = yield* TestDatabase
        const redis = yield* redisUrl
        const others = yield* remoteHosts
        const collectors = [yield* startCollector, yield* startCollector]
        const statuses = yield* Effect.scoped(Effect.gen(function*() {
          const [a] = yield* Effect.forEach(collectors, (collector) =>
            startNode(url, redis, { OUTBOUND_ALLOW: "127.0.0.0/8", OTLP_URL: collector.url }), { concurrency: 2 })
          const people = yield* makeAccounts(
            a!.variables,
            Array.from({ length: authors }, (_, n) =>
              `author${n}`)
          )
          const inboxes = Array.from({ length: hostsCount }, (_, n) =>
            others.inbox(1 + n, n))
          yield* addRemoteFollowers(sql, inboxes, people)
          const statuses = yield* Effect.forEach(people, (person) =>
            Effect.map(
              request(a!, person, "/api/v1/statuses", { method: "POST", form: { status: "hello" } }),
              ({ body }) => idOf(body)
            ).pipe(Effect.tap((id) => Effect.sync(() => assert.notStrictEqual(id, "")))))
          yield* others.arrived(authors * hostsCount)
          yield* Effect.repeat(sql`(SELECT 1 FROM fanouts LIMIT 1) UNION ALL (SELECT 1 FROM deliveries LIMIT 1)`, {
            until: (left) => left.length === 0,
            schedule: Schedule.spaced("50 millis")
          })
          return statuses
        }))
        assert.lengthOf(new Set(statuses), authors)

        // The nodes have stopped, so each collector has all of its node's spans.
        const received = collectors.map((collector) => spansOf(collector.received))
        const spans = received.flat()
        const nodeOf = new Map(received.flatMap((all, node) => all.map(({ id }) => [id, node] as const)))
        const ids = new Set(spans.map(({ id }) => id))
        assert.deepStrictEqual(
          spans.filter(({ parent }) => parent !== undefined && !ids.has(parent)).map(({ name }) => name),
          [],
          "each parent was exported by one of the nodes"
        )
        const requests = spans.filter(({ attributes, name }) =>
          name === "POST" && attributes["url.path"] === "/api/v1/statuses"
        )
        assert.lengthOf(requests, authors)
        const routes = requests.map(({ id, traceId }) => {
          assert.strictEqual(nodeOf.get(id), 0)
          const trace = spans.filter((span) => span.traceId === traceId)
          const posts = trace.filter(({ name }) => name === "Outbound.post")
          assert.lengthOf(posts, hostsCount)
          for (const post of posts) {
            assert.strictEqual(pathOf(trace, post).filter((name) => stations.has(name)).join(" > "), way)
          }
          const actor = trace.find(({ name }) => name === "Account.Publish")
          return { actor: nodeOf.get(actor?.id ?? ""), deliveries: new Set(posts.map((post) => nodeOf.get(post.id))) }
        })
        const remote = routes.filter(({ actor }) => actor === 1)
        assert.isNotEmpty(remote, "an actor lived on the other node")
        assert.isTrue(remote.some(({ deliveries }) => deliveries.has(1)), "and the other node delivered")
      }).pipe(Effect.provide(NodeServices.layer))
  )
})
