import { NodeCrypto, NodeServices } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import { Clock, Effect, Exit, Layer, Option, Scope } from "effect"
import { SqlClient } from "effect/sql"
import { limits } from "../../src/http/guard/Limits.ts"
import { freePort } from "../support/ports.ts"
import { startRedisAt } from "../support/RedisServer.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { befriend, keptOnce, spread, wrongHomes } from "./Checks.ts"
import { whileFrozen } from "./Freezing.ts"
import { idOf, type Load, type Outcome, percentile, recovery, startLoad, tally, worked } from "./Load.ts"
import { type Account, makeAccounts, type Node, request, startNode } from "./Nodes.ts"
import { listen, type Stream } from "./Streams.ts"

/** Several times the timeout of any Redis command, connection or subscription. */
const outage = "10 seconds"
const roundMillis = 150
/**
 * Additional milliseconds of homes while Redis is away, at the median and the 99th percentile. A command to a hung
 * Redis takes 500 ms, which only the first reader may wait for.
 */
const homeMillisMax = { half: 400, most: 1_000 }
/** Factor for the slowest responses on a busy machine. */
const busyFactor = 3
const streamMillisMax = 1_000
const recoveryMillisMax = 15_000
/** Maximum time for which a stream outlives its token if the broadcast is lost, in milliseconds. */
const revocationMillisMax = 30_000

/** Starts a Redis that can be killed and restarted, empty, at the same port. */
const startMortalRedis = Effect.gen(function*() {
  const port = yield* freePort
  const outer = yield* Effect.scope
  let life = yield* Scope.fork(outer)
  let redis = yield* Scope.provide(startRedisAt(port), life)
  return {
    url: redis.url,
    whileFrozen: <A, E, R>(work: Effect.Effect<A, E, R>) => Effect.suspend(() => whileFrozen(redis.pid, work)),
    whileDead: Effect.fnUntraced(function*<A, E, R>(work: Effect.Effect<A, E, R>) {
      yield* Scope.close(life, Exit.void)
      const result = yield* work
      life = yield* Scope.fork(outer)
      redis = yield* Effect.orDie(Scope.provide(startRedisAt(port), life))
      return result
    })
  }
})

/** Registers apps on the nodes in turn, and expects refusals beyond the limit for the periods of the test. */
const registerApps = Effect.fnUntraced(function*(nodes: ReadonlyArray<Node>, person: Account) {
  const { seconds, uses } = limits.apps
  const period = Effect.map(Clock.currentTimeMillis, (now) => Math.floor(now / (seconds * 1000)))
  const first = yield* period
  const statuses: Array<number> = []
  for (let n = 0; n < 3 * uses; n++) {
    const form = { ["client_name"]: "app", ["redirect_uris"]: "https://app.example/" }
    statuses.push((yield* request(nodes[n % nodes.length]!, person, "/api/v1/apps", { method: "POST", form })).status)
  }
  const made = statuses.filter((status) => status === 200).length
  assert.isAtMost(made, uses * ((yield* period) - first + 1))
  assert.strictEqual(made + statuses.filter((status) => status === 429).length, statuses.length)
  return made
})

/** Registers an app that owns the tokens of these accounts, and may revoke them. */
const registerOwner = Effect.fnUntraced(function*(node: Node, people: ReadonlyArray<Account>) {
  const sql = yield* SqlClient.SqlClient
  const form = { ["client_name"]: "owner", ["redirect_uris"]: "https://app.example/" }
  const { body } = yield* request(node, people[0]!, "/api/v1/apps", { method: "POST", form })
  const { client_id, client_secret } = body as Record<string, string>
  yield* sql`UPDATE oauth_tokens SET app_id = ${BigInt(idOf(body))}
    WHERE account_id IN ${sql.in(people.map(({ id }) => id))}`
  return { client_id: client_id ?? "", client_secret: client_secret ?? "" }
})

/** Revokes a token on one node; returns how long its stream on another lasts, in milliseconds. */
const revoke = Effect.fnUntraced(
  function*(node: Node, account: Account, owner: Record<string, string>, stream: Stream) {
    const form = { ...owner, token: account.token }
    const { status } = yield* request(node, account, "/oauth/revoke", { method: "POST", form })
    assert.strictEqual(status, 200)
    const since = performance.now()
    return (yield* stream.closed) - since
  }
)

/** Posts until a post is streamed in time; returns how long after `since` that post was sent, in milliseconds. */
const streamsAgain = Effect.fnUntraced(function*(stream: Stream, node: Node, author: Account, since: number) {
  while (true) {
    const began = performance.now()
    assert.isBelow(began - since, recoveryMillisMax)
    const key = `${node.baseUrl} ${began}`
    const { body, status } = yield* request(node, author, "/api/v1/statuses", {
      method: "POST",
      form: { status: `stream ${key}` },
      key
    })
    assert.strictEqual(status, 200)
    const arrived = yield* Effect.timeoutOption(stream.arrival(idOf(body)), streamMillisMax)
    if (Option.isSome(arrived)) return began - since
  }
})

/** Runs the load through an outage and checks its responses; returns when streams worked again. */
const under = Effect.fnUntraced(function*(
  name: string,
  load: Load,
  usual: ReadonlyArray<Outcome>,
  fault: (work: Effect.Effect<unknown>) => Effect.Effect<unknown>,
  meanwhile: Effect.Effect<unknown>,
  streams: (since: number) => Effect.Effect<number>
) {
  const began = performance.now()
  yield* fault(Effect.all([Effect.sleep(outage), meanwhile], { concurrency: "unbounded" }))
  const back = performance.now()
  const [streamed] = yield* Effect.all([streams(back), recovery(load, back)], { concurrency: "unbounded" })
  const asked = load.outcomes.filter((one) => one.ended > began && one.began < back)
  const homes = asked.filter(({ kind }) => kind === "home")
  const posts = asked.filter(({ kind }) => kind === "post")
  console.log(
    `Redis ${name} for ${outage}: ${asked.length} requests (${tally(asked)}); homes p50 ` +
      `${percentile(homes, 0.5).toFixed(0)} ms, p99 ${percentile(homes, 0.99).toFixed(0)} ms; posts p50 ` +
      `${percentile(posts, 0.5).toFixed(0)} ms, p99 ${percentile(posts, 0.99).toFixed(0)} ms; streams between nodes ` +
      `work ${(streamed / 1000).toFixed(1)} s after its return`
  )
  assert.deepStrictEqual(asked.filter((one) => !worked(one)), [])
  assert.isBelow(percentile(homes, 0.5), percentile(usual, 0.5) + homeMillisMax.half)
  assert.isBelow(percentile(homes, 0.99), busyFactor * percentile(usual, 0.99) + homeMillisMax.most)
})

const Platform = Layer.merge(NodeServices.layer, NodeCrypto.layer)

layer(TestDatabase.layer.pipe(Layer.provideMerge(Platform)), { excludeTestServices: true })(
  "Redis stopped under load (F9)",
  (it) => {
    it.effect(
      "posts and homes continue; streams, feeds and limits are right during and after; row 70: a revoked session gets no more events",
      () =>
        Effect.scoped(Effect.gen(function*() {
          const sql = yield* SqlClient.SqlClient
          const { url } = yield* TestDatabase
          const redis = yield* startMortalRedis
          const start = startNode(url, redis.url, { RATE_LIMITS: "on" })
          const [a, b] = yield* Effect.all([start, start], { concurrency: 2 })
          const names = Array.from({ length: 14 }, (_, n) => `author${n}`)
          const [lost, late, ...people] = yield* makeAccounts(a.variables, names)
          yield* befriend([a, b], people, 3)
          const reader = people[0]!
          const author = people[1]!
          const stream = yield* listen(b, reader)
          const owner = yield* registerOwner(a, [lost!, late!])
          const revoked = [yield* listen(b, lost!), yield* listen(b, late!)] as const
          const load = yield* startLoad([a, b], people, roundMillis)
          yield* Effect.sleep("3 seconds")
          const usual = load.outcomes.filter(({ kind }) => kind === "home")

          let made = 1
          const closings: Array<number> = []
          const meanwhile = (node: Node, account: Account, ending: Stream) =>
            Effect.gen(function*() {
              made += yield* registerApps([node], reader)
              closings.push(yield* revoke(a, account, owner, ending))
            })
          const streams = (since: number) => streamsAgain(stream, a, author, since)
          yield* under("frozen", load, usual, redis.whileFrozen, meanwhile(a, lost!, revoked[0]), streams)
          yield* under("dead", load, usual, redis.whileDead, meanwhile(b, late!, revoked[1]), streams)
          made += yield* registerApps([a, b], reader)

          assert.lengthOf(closings, 2)
          assert.isBelow(Math.max(...closings), revocationMillisMax)
          yield* load.stop
          yield* spread(sql)
          const { marks, posts } = yield* keptOnce(sql, load)
          assert.deepStrictEqual([...yield* wrongHomes(sql, a, people), ...yield* wrongHomes(sql, b, people)], [])
          console.log(
            `${posts} posts and ${marks} marks are there once, ${people.length} homes are exact on both nodes; ` +
              `${made} apps were made where ${limits.apps.uses} are allowed, by each node alone and by both together; ` +
              `streams of tokens that the other node was given back went on for ${
                closings.map((millis) => (millis / 1000).toFixed(1)).join(" and ")
              } s`
          )
        })),
      170_000
    )
  }
)
