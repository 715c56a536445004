import { NodeCrypto, NodeServices } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { redisUrl } from "../support/RedisServer.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { befriend, keptOnce, spread, wrongHomes } from "./Checks.ts"
import { whileFrozen } from "./Freezing.ts"
import { idOf, recovery, startLoad, tally } from "./Load.ts"
import { makeAccounts, type Node, request, startNode } from "./Nodes.ts"

const freeze = "20 seconds"
const roundMillis = 100
/** From the moment at which posts are sent to the node until it stands still, so that some of them are half done. */
const halfDone = "30 millis"
/** How long the accounts of a frozen node may be without an answer, in milliseconds. */
const failoverMillisMax = 12_000
const recoveryMillisMax = 15_000
/** How long the node may take to stop after all that: requests, actors and sessions end in seconds each. */
const stopMillisMax = 20_000

layer(TestDatabase.layer.pipe(Layer.provideMerge(Layer.merge(NodeServices.layer, NodeCrypto.layer))), {
  excludeTestServices: true
})("A node that freezes and wakes up (F4)", (it) => {
  it.effect(
    "its accounts answer elsewhere; what it still wanted to commit does not exist, and nothing is done twice",
    () =>
      Effect.scoped(Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const { url } = yield* TestDatabase
        const redis = yield* redisUrl
        const [a, b, c] = yield* Effect.all([startNode(url, redis), startNode(url, redis), startNode(url, redis)])
        const people = yield* makeAccounts(a.variables, Array.from({ length: 16 }, (_, n) => `author${n}`))
        yield* befriend([a, b, c], people, 3)
        const live: Array<Node> = [a, b, c]
        const load = yield* startLoad(live, people, roundMillis)
        yield* Effect.sleep("3 seconds")

        const epochs = Effect.map(
          sql<{ accountId: bigint; epoch: bigint }>`SELECT account_id, epoch FROM actors`,
          (rows) => new Map(rows.map(({ accountId, epoch }) => [accountId, epoch]))
        )
        /** Commands that were committed under an epoch below the given ones. */
        const committedBefore = Effect.fnUntraced(function*(ended: ReadonlyMap<bigint, bigint>) {
          const rows = yield* sql<
            { accountId: bigint; id: string; epoch: bigint }
          >`SELECT account_id, id, epoch FROM commands`
          return rows.filter(({ accountId, epoch }) => epoch < (ended.get(accountId) ?? 0n))
            .map(({ accountId, id }) => `${accountId} ${id}`).sort()
        })

        const before = yield* epochs
        yield* Effect.forEach(people, (person, n) => load.post(person, `post late ${n}`, b), { discard: true })
        yield* Effect.sleep(halfDone)
        live.splice(live.indexOf(b), 1)
        const began = performance.now()
        const { after, halfway, late, old } = yield* whileFrozen(
          b.child.pid!,
          Effect.gen(function*() {
            yield* Effect.sleep("1 second")
            const [open] = yield* sql<{ n: number }>`SELECT count(*)::int AS n FROM pg_stat_activity
          WHERE datname = current_database() AND state LIKE 'idle in transaction%' AND state_change < now() - '900 ms'::interval`
            yield* Effect.sleep(freeze)
            const after = yield* epochs
            const old = yield* committedBefore(after)
            // Waits in front of the node until it wakes up, when it believes for a moment that all is as it was.
            const answered = [...load.answered].slice(-people.length)
            const late = yield* Effect.forEach(answered, ([status, id]) => {
              const author = people.find((person) =>
                load.outcomes.some(({ body, by }) => by === person && idOf(body) === id)
              )!
              return Effect.forkChild(
                Effect.map(
                  request(b, author, "/api/v1/statuses", { method: "POST", form: { status }, key: status }),
                  (answer) => ({ id, answer })
                ),
                { startImmediately: true }
              )
            })
            yield* Effect.sleep("200 millis")
            return { after, halfway: open?.n, late, old }
          })
        )
        const woken = performance.now()
        live.push(b)
        const lateAnswers = yield* Effect.forEach(late, Fiber.join)
        const recovered = yield* recovery(load, woken)
        yield* load.stop

        const elsewhere = load.outcomes.filter(({ through, began: asked }) =>
          through !== b && asked > began && asked < woken
        )
        const moved = people.filter(({ id }) => (after.get(id) ?? 0n) > (before.get(id) ?? 0n))
        const failovers = moved.map((person) =>
          Math.min(
            ...elsewhere.filter(({ by, kind, status }) => by === person && kind === "post" && status === 200)
              .map(({ ended }) => ended - began)
          )
        )
        const failover = Math.max(...failovers)
        assert.isAbove(moved.length, 0)
        assert.isBelow(failover, failoverMillisMax)
        assert.isBelow(recovered, recoveryMillisMax)
        assert.deepStrictEqual(yield* committedBefore(after), old)
        for (const { answer, id } of lateAnswers) {
          assert.include([0, 200, 503], answer.status)
          if (answer.status === 200) assert.strictEqual(idOf(answer.body), id)
        }
        yield* spread(sql)
        const { marks, posts } = yield* keptOnce(sql, load)
        assert.deepStrictEqual([...yield* wrongHomes(sql, a, people), ...yield* wrongHomes(sql, b, people)], [])
        b.child.kill("SIGTERM")
        const stopping = performance.now()
        assert.strictEqual((yield* b.ended).code, 0)
        const stopped = performance.now() - stopping
        assert.isBelow(stopped, stopMillisMax)
        console.log(
          `A node was frozen for ${freeze} with ${halfway} transactions half done: ${moved.length} of its accounts answered elsewhere, after ${
            (failover / 1000).toFixed(1)
          } s at the latest (${
            tally(elsewhere)
          } there); woken up, it answered ${lateAnswers.length} posts that were done ` +
            `already with ${
              tally(load.outcomes.filter(({ through, ended }) => through === b && ended > woken))
            }; all works ` +
            `${
              (recovered / 1000).toFixed(1)
            } s after that; ${posts} posts and ${marks} marks are there once, homes are exact; told to stop, it stopped in ${
              (stopped / 1000).toFixed(1)
            } s`
        )
      })),
    170_000
  )
})
