import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { TestServer } from "../../support/Server.ts"
import { answer, eventually, serve, timesAsked } from "./Exchange.ts"
import { question, tally } from "./Questions.ts"
import { done, servers } from "./Sending.ts"
import { actorOf, json, person, received, there } from "./Talking.ts"

/** As a minute later. */
const later = SqlClient.SqlClient.use((sql) =>
  Effect.orDie(sql`UPDATE look_ups SET begun_at = begun_at - interval '61 seconds' WHERE kind = 'poll'`)
)

layer(servers, { excludeTestServices: true, timeout: "2 minutes" })("polls of other servers", (it) => {
  it.effect("S-076: are asked for anew by who looks, once a minute however many look, and once after their end", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const [anna, ben, zoe] = [yield* person("anna"), yield* person("ben"), yield* there("zoe")]
      const me = yield* actorOf(anna)
      const asked = (one: number, two: number) => question(zoe, "q", me, { one, two })
      yield* done(zoe, { type: "Create", object: asked(1, 0) })
      const { poll: { id } } = yield* received(anna)
      const look = Effect.map(json(anna, `/api/v1/polls/${id}`), (poll) => tally({ poll }))
      const uri = asked(0, 0)["id"]
      yield* serve(asked(3, 4))
      const { fetch } = yield* TestServer
      assert.strictEqual((yield* fetch(`/api/v1/polls/${id}`)).status, 200)
      assert.strictEqual(yield* timesAsked(uri), 0)
      const many = Effect.forEach([anna, ben, anna, ben], (by) => json(by, `/api/v1/polls/${id}`), {
        concurrency: "unbounded"
      })
      yield* many
      assert.deepStrictEqual(yield* look, [7, 3, 4])
      assert.strictEqual(yield* timesAsked(uri), 1)
      yield* serve(asked(5, 5))
      yield* later
      assert.deepStrictEqual(yield* look, [10, 5, 5])
      assert.strictEqual(yield* timesAsked(uri), 2)
      // What it said before its end may not be the last word.
      const end = new Date(Date.now() - 3_600_000)
      yield* sql`UPDATE polls SET expires_at = ${end} WHERE status_id = ${id}`
      yield* sql`UPDATE look_ups SET begun_at = ${new Date(end.getTime() - 3_600_000)} WHERE kind = 'poll'`
      yield* serve({ ...asked(6, 6), endTime: end.toISOString() })
      assert.deepStrictEqual(yield* look, [12, 6, 6])
      yield* later
      yield* look
      assert.strictEqual(yield* timesAsked(uri), 3)
    }))

  it.effect("S-076: whose server is slow or has nothing to say are shown as they are known", () =>
    Effect.gen(function*() {
      const [cleo, yan] = [yield* person("cleo"), yield* there("yan")]
      const me = yield* actorOf(cleo)
      const asked = question(yan, "slow", me, { one: 1, two: 2 })
      yield* done(yan, { type: "Create", object: asked })
      const { poll: { id } } = yield* received(cleo)
      const look = Effect.map(json(cleo, `/api/v1/polls/${id}`), (poll) => tally({ poll }))
      yield* answer(new URL(String(asked["id"])).pathname, (_, response) => response.writeHead(404).end())
      assert.deepStrictEqual(yield* look, [3, 1, 2])
      let release = () => {}
      yield* answer(new URL(String(asked["id"])).pathname, (_, response) => {
        release = () =>
          response.writeHead(200, { "content-type": "application/activity+json" }).end(
            JSON.stringify({
              "@context": "https://www.w3.org/ns/activitystreams",
              ...question(yan, "slow", me, { one: 8, two: 9 })
            })
          )
      })
      yield* later
      assert.deepStrictEqual(yield* look, [3, 1, 2])
      release()
      yield* eventually(Effect.map(look, ([voters]) => voters === 17 ? true : undefined))
    }))

  it.effect("S-076: for a few readers is nothing that the server asks for, nor is anybody's who may not see it", () =>
    Effect.gen(function*() {
      const [dora, emil, wim] = [yield* person("dora"), yield* person("emil"), yield* there("wim")]
      const me = yield* actorOf(dora)
      const secret = question(wim, "secret", me, { one: 1, two: 2 }, { to: [me], cc: [] })
      yield* done(wim, { type: "Create", object: secret })
      const { poll: { id } } = yield* received(dora)
      assert.strictEqual((yield* json(dora, `/api/v1/polls/${id}`)).voters_count, 3)
      assert.strictEqual((yield* json(emil, `/api/v1/polls/${id}`)).error, "Record not found")
      assert.strictEqual(yield* timesAsked(secret["id"]), 0)
    }))
})
