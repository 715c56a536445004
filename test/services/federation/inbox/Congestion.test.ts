import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { Congestion, waitingMax, waitingOfUnfollowedMax } from "../../../../src/services/federation/inbox/Congestion.ts"
import { person } from "../../../support/People.ts"
import { TestDatabase } from "../../../support/TestDatabase.ts"

const Live = Layer.mergeAll(Congestion.layer.pipe(Layer.provideMerge(TestDatabase.layer)), TestClock.layer())

layer(Live, { excludeTestServices: true })("congestion", (it) => {
  it.effect("F74: servers without local followers leave room in the queue for others", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { isFull } = yield* Congestion
      const local = yield* person("local")
      const of = Effect.fnUntraced(function*(domain: string) {
        const id = yield* person(domain.replace(".", ""))
        yield* sql`UPDATE accounts SET domain = ${domain} WHERE id = ${id}`
        return id
      })
      const [friend, fan, flood] = [yield* of("friend.example"), yield* of("fan.example"), yield* of("flood.example")]
      yield* sql`INSERT INTO follows (id, account_id, target_account_id, created_at)
        VALUES (1, ${local}, ${friend}, now()), (2, ${fan}, ${local}, now())`
      // A remote follower of a local account does not make its server followed.
      yield* sql`UPDATE follows SET remote = true WHERE id = 2`
      const domains = ["friend.example", "fan.example", "flood.example", "unknown.example"]
      const full = Effect.filter(domains, isFull)
      let before = 0
      const waits = Effect.fnUntraced(function*(count: number) {
        yield* sql`INSERT INTO inbound_activities (id, account_id, uri, document, received_at, due_at)
          SELECT n, ${flood}, 'waits:' || n, '{}', now(), now()
          FROM generate_series(${sql.literal(`${before + 1}, ${before + count}`)}) n`
        before += count
        yield* TestClock.adjust("2 minutes")
      })
      yield* waits(9_999)
      assert.deepStrictEqual(yield* full, [])
      yield* waits(waitingOfUnfollowedMax - 9_999)
      assert.deepStrictEqual(yield* full, ["fan.example", "flood.example", "unknown.example"])
      assert.isFalse(yield* isFull())
      yield* waits(waitingMax - waitingOfUnfollowedMax)
      assert.deepStrictEqual(yield* full, domains)
    }))
})
