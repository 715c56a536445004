import { assert, layer } from "@effect/vitest"
import { Deferred, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { WebhookDeliveries } from "../../../src/services/webhooks/WebhookDeliveries.ts"
import { behindGate } from "../../support/Gates.ts"
import { person } from "../../support/People.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"

layer(TestDatabase.layer, { excludeTestServices: true })("queues of webhooks", (it) => {
  it.effect("F184: of concurrent transactions, one gets the last place, and none waits for another's rows", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const names = ["anna", "ben", "cleo", "dan"]
      const people = yield* Effect.forEach(names, (name) => person(name))
      yield* sql`INSERT INTO webhooks (id, url, events, secret, template, enabled, created_at, updated_at)
        VALUES (1, 'https://hooks.example', '{account.updated}', '', '', true, now(), now())`
      yield* sql`INSERT INTO webhook_deliveries (webhook_id, event, object_id)
        SELECT 1, 'account.updated', n FROM generate_series(1, 999) n`
      const renamed = people.map((id) =>
        sql.withTransaction(sql`UPDATE accounts SET display_name = 'New' WHERE id = ${id}`)
      )
      yield* behindGate("webhook_deliveries", "INSERT", renamed)
      const [row] = yield* sql`SELECT count(*)::int AS waiting FROM webhook_deliveries`
      assert.deepStrictEqual(row, { waiting: 1_000 })
      // A transaction that enqueued an event does not block others before it commits.
      yield* sql`DELETE FROM webhook_deliveries`
      const [begun, ended] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const rename = (id: bigint) => sql`UPDATE accounts SET display_name = 'Newer' WHERE id = ${id}`
      const slow = sql.withTransaction(
        rename(people[0]!).pipe(
          Effect.andThen(Deferred.succeed(begun, undefined)),
          Effect.andThen(Deferred.await(ended))
        )
      )
      const quick = Deferred.await(begun).pipe(
        Effect.andThen(rename(people[1]!)),
        Effect.andThen(Deferred.succeed(ended, undefined))
      )
      yield* Effect.all([slow, quick], { concurrency: "unbounded" })
      const [both] = yield* sql`SELECT count(*)::int AS waiting FROM webhook_deliveries`
      assert.deepStrictEqual(both, { waiting: 2 })
    }))

  it.effect("F211: an event is given up if its process died in every attempt, and the next one is sent", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      yield* sql`DELETE FROM webhooks`
      yield* sql`INSERT INTO webhooks (id, url, events, secret, template, enabled, created_at, updated_at)
        VALUES (1, 'https://hooks.example', '{account.updated}', '', '', true, now(), now())`
      yield* sql`INSERT INTO webhook_deliveries (webhook_id, event, object_id, due_at, tries)
        VALUES (1, 'account.updated', 1, '1970-01-01', 8), (1, 'account.updated', 2, NULL, 0)`
      const claimed = yield* (yield* WebhookDeliveries).claim(10)
      assert.deepStrictEqual(claimed.map(({ objectId, tries }) => [objectId, tries]), [[2n, 1]])
      assert.deepStrictEqual(yield* sql`SELECT given_up FROM webhooks`, [{ givenUp: 1 }])
    }).pipe(Effect.provide(WebhookDeliveries.layer)))
})
