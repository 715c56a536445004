import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import WebSocket from "ws"
import { allowedMillis } from "../support/MachineSpeed.ts"
import { redisUrl } from "../support/RedisServer.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { fanOutsDone } from "./Checks.ts"
import { type Account, makeAccounts, type Node, request, startNode } from "./Nodes.ts"

const authors = 40
const postsEach = 13
const followsEach = 6
/** Numbers of acknowledged posts at which one node is killed, and another one is told to stop. */
const killedAfter = 150
const stoppedAfter = 330
const atOnce = 16
/** Maximum time for which accounts of a killed node do not respond, in milliseconds. */
const failoverMillisMax = 12_000
const attemptsMax = 200

const idOf = ({ body }: { readonly body: unknown }) =>
  typeof body === "object" && body !== null && "id" in body ? String(body.id) : ""

/** Opens the user's stream, and records the ids of arriving statuses with their times. */
const listen = (node: Node, account: Account) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const socket = new WebSocket(`${node.baseUrl.replace("http", "ws")}/api/v1/streaming?stream=user`, account.token)
      const arrivals = new Map<string, number>()
      const waiting: Array<() => void> = []
      socket.on("message", (data) => {
        const { event, payload } = JSON.parse(String(data))
        if (event === "update") arrivals.set(JSON.parse(payload).id, performance.now())
        waiting.splice(0).forEach((resume) => resume())
      })
      await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject))
      return {
        socket,
        arrival: async (id: string) => {
          while (!arrivals.has(id)) await new Promise<void>((resume) => waiting.push(resume))
          return arrivals.get(id) ?? 0
        }
      }
    }),
    ({ socket }) => Effect.sync(() => socket.terminate())
  )

layer(TestDatabase.layer, { excludeTestServices: true })("A cluster of three nodes", (it) => {
  it.effect(
    "streams from any node, and loses nothing when one node is killed and another stopped (I1, I2, I3, I9)",
    () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const { url } = yield* TestDatabase
        const redis = yield* redisUrl
        const start = startNode(url, redis)
        const [a, b, c] = yield* Effect.all([start, start, start], { concurrency: 3 })
        const people = yield* makeAccounts(a.variables, Array.from({ length: authors }, (_, n) => `author${n}`))
        const at = (n: number) => people[n % people.length]!
        yield* Effect.forEach(people, (person, n) =>
          Effect.forEach(
            Array.from({ length: followsEach }, (_, k) => at(n + k + 1)),
            (target) => request([a, b, c][n % 3]!, person, `/api/v1/accounts/${target.id}/follow`, { method: "POST" })
          ), {
          concurrency: 8
        })
        const [follows] = yield* sql<{ n: number }>`SELECT count(*)::int AS n FROM follows`
        assert.strictEqual(follows?.n, authors * followsEach)

        // Posted through one node, received on the socket of another.
        const stream = yield* listen(c, at(0))
        const began = performance.now()
        const first = yield* request(a, at(1), "/api/v1/statuses", {
          method: "POST",
          form: { status: "hello cluster" }
        })
        const streamed = (yield* Effect.promise(() => stream.arrival(idOf(first)))) - began
        assert.isBelow(streamed, 1000)

        // Hundreds of posts, while b is killed and c stops.
        let live = [a, b, c]
        let acknowledged = 0
        let killedAt = Number.POSITIVE_INFINITY
        const firstAfterKill = new Map<string, number>()
        const ids = new Map<string, string>()
        const publishAs = Effect.fnUntraced(function*(person: Account, n: number) {
          const key = `${person.username}-${n}`
          const status = n % 10 === 0 ? `@${at(n).username} post ${key}` : `post ${key}`
          for (let attempt = 0; attempt < attemptsMax; attempt++) {
            const node = live[(n + attempt) % live.length]!
            const response = yield* request(node, person, "/api/v1/statuses", { method: "POST", form: { status }, key })
            if (response.status === 200) {
              ids.set(key, idOf(response))
              if (performance.now() > killedAt && !firstAfterKill.has(person.username)) {
                firstAfterKill.set(person.username, performance.now() - killedAt)
              }
              acknowledged++
              break
            }
            assert.include([0, 503], response.status, JSON.stringify(response.body))
            yield* Effect.sleep("250 millis")
          }
          if (acknowledged === killedAfter) {
            live = [a, c]
            killedAt = performance.now()
            b.child.kill("SIGKILL")
          }
          if (acknowledged === stoppedAfter) {
            live = [a]
            c.child.kill("SIGTERM")
          }
        })
        const loadBegan = performance.now()
        yield* Effect.forEach(
          Array.from({ length: authors * postsEach }, (_, n) => n),
          (n) => publishAs(at(n), Math.floor(n / authors)),
          { concurrency: atOnce, discard: true }
        )
        const seconds = (performance.now() - loadBegan) / 1000
        const total = authors * postsEach
        assert.strictEqual(acknowledged, total)

        const stored = yield* sql<
          { id: bigint; text: string }
        >`SELECT id, text FROM statuses WHERE text LIKE '%post author%'`
        assert.strictEqual(stored.length, total)
        assert.strictEqual(new Set(stored.map(({ text }) => text)).size, total)
        const present = new Set(stored.map(({ id }) => String(id)))
        assert.isTrue([...ids.values()].every((id) => present.has(id)))
        const failover = Math.max(...firstAfterKill.values())
        assert.isBelow(failover, allowedMillis(failoverMillisMax))

        yield* fanOutsDone(sql)
        const home = Effect.fnUntraced(function*(person: Account) {
          const seen: Array<string> = []
          for (let path = "/api/v1/timelines/home?limit=40"; path !== "";) {
            const page = yield* request(a, person, path)
            const found = Array.isArray(page.body) ? page.body.map((status: { id: string }) => status.id) : []
            seen.push(...found)
            path = found.length === 0 ? "" : `/api/v1/timelines/home?limit=40&max_id=${found.at(-1)}`
          }
          return seen
        })
        const wrong = yield* Effect.forEach(people, (person, n) =>
          Effect.gen(function*() {
            const seen = yield* home(person)
            const owners = [person, ...Array.from({ length: followsEach }, (_, k) => at(n + k + 1))]
            const expected = yield* sql<{ id: bigint }>`SELECT id FROM statuses WHERE deleted_at IS NULL
            AND ${sql.in("account_id", owners.map(({ id }) => id))} ORDER BY id DESC`
            return seen.join() === expected.map(({ id }) => String(id)).join() ? [] : [person.username]
          }), { concurrency: 4 })
        assert.deepStrictEqual(wrong.flat(), [])
        const twice =
          yield* sql`SELECT account_id FROM notifications GROUP BY account_id, type, from_account_id, status_id HAVING count(*) > 1`
        assert.deepStrictEqual(twice, [])
        const [mentions] = yield* sql<{ told: number; named: number }>`SELECT
        (SELECT count(*)::int FROM notifications WHERE type = 'mention') AS told,
        (SELECT count(*)::int FROM mentions m JOIN statuses s ON s.id = m.status_id WHERE m.account_id <> s.account_id) AS named`
        assert.strictEqual(mentions?.told, mentions?.named)
        console.log(
          `post to another node's socket ${streamed.toFixed(0)} ms; ${total} posts in ${seconds.toFixed(1)} s; ` +
            `accounts of the killed node without a response for ${(failover / 1000).toFixed(1)} s at most; ` +
            `${authors} homes correct, ${mentions?.told} mentions notified once`
        )
      })
  )
})
