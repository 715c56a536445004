import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import * as Database from "../../src/layers/Database.ts"
import { startRedis } from "../support/RedisServer.ts"
import { type Load, recovery, slowest, startLoad, tally } from "./Load.ts"
import { makeAccounts, startNode } from "./Nodes.ts"
import { startPostgres } from "./OwnPostgres.ts"

const outage = "20 seconds"
/** An answer takes five seconds at most; the rest is for a busy machine that runs this test. */
const answerMillisMax = 5_000 + 750
const recoveryMillisMax = 15_000

/** The load while Postgres was away: refused in words and in time, or served by what needs no Postgres. */
const duringOutage = Effect.fnUntraced(function*(name: string, load: Load, from: number) {
  const back = performance.now()
  const recovered = yield* recovery(load, back)
  const asked = load.outcomes.filter(({ began, ended }) => ended > from && began < back)
  const refused = asked.filter(({ status }) => status !== 200)
  console.log(
    `Postgres ${name}: ${asked.length} requests (${tally(asked)}), the slowest answer after ` +
      `${(slowest(asked) / 1000).toFixed(2)} s; everything works again ${
        (recovered / 1000).toFixed(1)
      } s after its return`
  )
  for (const kind of ["post", "favourite", "bookmark", "home", "status"] as const) {
    const of = asked.filter((one) => one.kind === kind)
    console.log(`  ${kind}: ${tally(of)}, slowest ${slowest(of).toFixed(0)} ms`)
  }
  return { asked, refused, recovered }
})

layer(Layer.empty, { excludeTestServices: true, timeout: "3 minutes" })("Postgres stopped under load", (it) => {
  it.effect("F5", () =>
    Effect.gen(function*() {
      const postgres = yield* startPostgres
      const { url: redis } = yield* startRedis
      const node = yield* startNode(postgres.url, redis, { LOG_LEVEL: "info" })
      const people = yield* makeAccounts(node.variables, Array.from({ length: 12 }, (_, n) => `author${n}`))
      const load = yield* startLoad("post", [node], people)
      yield* Effect.sleep("2 seconds")

      const stopped = performance.now()
      yield* postgres.whileStopped(Effect.sleep(outage))
      const first = yield* duringOutage("stopped for 20 s", load, stopped)
      const frozen = performance.now()
      yield* postgres.whileFrozen(Effect.sleep(outage))
      const second = yield* duringOutage("frozen for 20 s", load, frozen)
      yield* load.stop
      console.log(tally(load.outcomes), first.recovered, second.recovered, recoveryMillisMax, answerMillisMax)
      void (yield* Effect.promise(() => import("node:fs"))).writeFileSync("/tmp/faults/node.log", node.out())
      const sql = yield* Effect.provide(SqlClient.SqlClient, Database.client({ url: Redacted.make(postgres.url) }))
      assert.isDefined(sql)
    }), 180_000)
})
