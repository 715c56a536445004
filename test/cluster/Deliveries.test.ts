import { assert, layer } from "@effect/vitest"
import { Effect, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { redisUrl } from "../support/RedisServer.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { idOf } from "./Load.ts"
import { type Account, makeAccounts, type Node, request, startNode } from "./Nodes.ts"
import { addRemoteFollowers, firstDeliveries, remoteHosts } from "./RemoteHosts.ts"

const hostsCount = 12
const inboxesEach = 4
const authors = 4
const postsEach = 20
/** Every third post is edited, and every fifth is deleted. */
const [editedOf, deletedOf] = [3, 5]
/** Number of arrived deliveries at which a node is killed. */
const killedAfter = 500
/** Maximum share of deliveries that may arrive twice: those in flight on the killed node. */
const twiceMax = 0.02

interface Changes {
  readonly edited: boolean
  readonly deleted: boolean
}

layer(TestDatabase.layer, { excludeTestServices: true })("deliveries of a cluster", (it) => {
  it.effect(
    "a node is killed while it delivers: everything arrives, in order at each host, hardly anything twice (I5, I6, F2)",
    () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const { url } = yield* TestDatabase
        const redis = yield* redisUrl
        const hosts = yield* remoteHosts
        const start = startNode(url, redis, { OUTBOUND_ALLOW: "127.0.0.0/8" })
        const [a, b, c] = yield* Effect.all([start, start, start], { concurrency: 3 })
        const people = yield* makeAccounts(a.variables, Array.from({ length: authors }, (_, n) => `author${n}`))
        const inboxes = Array.from(
          { length: hostsCount * inboxesEach },
          (_, n) => hosts.inbox(1 + n % hostsCount, n)
        )
        yield* addRemoteFollowers(sql, inboxes, people)

        /** Retries until a node responds. The killed node is no longer asked. */
        let live: ReadonlyArray<Node> = [a, b, c]
        let turn = 0
        const requestAs = (person: Account, method: string, path: string, text?: string) =>
          Effect.suspend(() =>
            request(live[turn++ % live.length]!, person, path, {
              method,
              key: `${method} ${path} ${text}`,
              ...(text === undefined ? {} : { form: { status: text } })
            })
          ).pipe(
            // A repeated DELETE gets 404 if the killed node did it without a response.
            Effect.repeat({
              until: ({ status }) => status === 200 || (method === "DELETE" && status === 404),
              schedule: Schedule.spaced("200 millis")
            }),
            Effect.timeout("1 minute")
          )
        const posts = new Map<string, Changes>()
        const publishAndChange = Effect.fnUntraced(function*(person: Account, n: number) {
          const path = `/api/v1/statuses/${
            idOf((yield* requestAs(person, "POST", "/api/v1/statuses", `post ${n}`)).body)
          }`
          const [edited, deleted] = [n % editedOf === 0, n % deletedOf === 0]
          posts.set(path.slice("/api/v1".length), { edited, deleted })
          if (edited) yield* requestAs(person, "PUT", path, `post ${n}, edited`)
          if (deleted) yield* requestAs(person, "DELETE", path)
        })
        const killing = Effect.gen(function*() {
          yield* hosts.arrived(killedAfter)
          const [deliveries] = yield* sql<
            { inFlight: number }
          >`SELECT count(*)::int AS "inFlight" FROM deliveries WHERE tries > 0`
          live = [a, c]
          b.child.kill("SIGKILL")
          return { inFlight: deliveries?.inFlight ?? 0, at: performance.now() }
        })
        const publishing = Effect.forEach(
          Array.from({ length: authors * postsEach }, (_, n) => n),
          (n) => publishAndChange(people[n % authors]!, n),
          { concurrency: 8, discard: true }
        )
        const [killed] = yield* Effect.all([killing, publishing], { concurrency: 2 })
        yield* Effect.repeat(
          sql`(SELECT 1 FROM fanouts LIMIT 1) UNION ALL (SELECT 1 FROM deliveries LIMIT 1)`,
          { until: (left) => left.length === 0, schedule: Schedule.spaced("50 millis") }
        )
        const seconds = (performance.now() - killed.at) / 1_000

        // Each inbox gets the changes of each object in order. An object deleted before its delivery is never sent.
        const firsts = firstDeliveries(hosts.arrivals)
        const wrong: Array<string> = []
        for (const inbox of inboxes) {
          const ofInbox = [...firsts].filter(([key]) => key.startsWith(`${inbox} `))
          for (const [path, { deleted, edited }] of posts) {
            const received = ofInbox.flatMap(([key, all]) => key.endsWith(path) ? all.map(({ type }) => type) : [])
              .join(
                " "
              )
            const complete = `Create${edited ? " Update" : ""}${deleted ? " Delete" : ""}`
            const allowed = deleted ? [complete, "Create Delete", ""] : [complete]
            if (!allowed.includes(received)) wrong.push(`${inbox} ${path}: ${received}, not ${complete}`)
          }
        }
        assert.deepStrictEqual(wrong, [])
        const once = [...firsts.values()].reduce((sum, all) => sum + all.length, 0)
        const twice = hosts.arrivals.length - once
        console.log(
          `kill -9 of a node after ${killedAfter} of ${once} deliveries, ${killed.inFlight} of them in flight; ` +
            `${twice} arrived twice (${(100 * twice / once).toFixed(2)}%); all had arrived ${
              seconds.toFixed(1)
            } s later`
        )
        assert.isAbove(killed.inFlight, 0)
        assert.isBelow(twice / once, twiceMax)
      })
  )
})
