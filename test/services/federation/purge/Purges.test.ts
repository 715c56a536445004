import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Broadcast } from "../../../../src/services/events/Broadcast.ts"
import { Purges } from "../../../../src/services/federation/purge/Purges.ts"
import { AgendaEntries } from "../../../../src/services/intents/AgendaEntries.ts"
import { followers, person } from "../../../support/People.ts"
import { TestDatabase } from "../../../support/TestDatabase.ts"

const services = Purges.layer.pipe(
  Layer.provideMerge(Layer.merge(AgendaEntries.layer, Broadcast.layerMemory)),
  Layer.provideMerge(TestDatabase.layer)
)

layer(services, { excludeTestServices: true })("data left by a local account", (it) => {
  it.effect("row 11, F20: is kept until every recipient is notified, because it determines the recipients", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const purges = yield* Purges
      const [anna, ben] = [yield* person("anna"), yield* person("ben")]
      yield* followers(anna, [ben])
      const at = new Date()
      yield* sql`INSERT INTO statuses (id, account_id, visibility, conversation_id, created_at)
        VALUES (1, ${anna}, 'public', 1, ${at})`
      yield* sql`INSERT INTO reaches VALUES (1, '{1}')`
      assert.isTrue(yield* purges.retire(anna))
      yield* sql`INSERT INTO fanouts (id, account_id, kind, details, created_at)
        VALUES (1, ${anna}, 'deliver', '{"leaves": "Farewell", "number": "0"}', ${at})`
      const left =
        sql`SELECT (SELECT count(*)::int FROM follows) AS follows, (SELECT count(*)::int FROM statuses) AS statuses,
        (SELECT count(*)::int FROM reaches) AS reaches, (SELECT count(*)::int FROM agenda) AS agenda`
      const again = Effect.repeat(purges.advance(anna), { times: 5 })
      yield* again
      assert.deepStrictEqual(yield* left, [{ follows: 1, statuses: 1, reaches: 1, agenda: 1 }])
      yield* sql`DELETE FROM fanouts`
      yield* sql`DELETE FROM agenda`
      yield* again
      assert.deepInclude((yield* left)[0], { follows: 0, statuses: 0, reaches: 0 })
      assert.isFalse(yield* purges.retire(anna))
    }))

  it.effect("F186: caches are told of every relation and interaction that a purge deletes", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const purges = yield* Purges
      const [cleo, dan, eve] = [yield* person("cleo"), yield* person("dan"), yield* person("eve")]
      const at = new Date()
      yield* sql`INSERT INTO statuses (id, account_id, visibility, conversation_id, created_at)
        SELECT n, ${dan}, 'public', n, ${at} FROM generate_series(11, 16) n`
      yield* followers(cleo, [eve])
      yield* sql`INSERT INTO blocks (id, account_id, target_account_id) VALUES (1, ${cleo}, ${dan})`
      yield* sql`INSERT INTO mutes (id, account_id, target_account_id, hide_notifications)
        VALUES (1, ${dan}, ${cleo}, true)`
      yield* sql`INSERT INTO endorsements (id, account_id, target_account_id) VALUES (1, ${cleo}, ${dan})`
      yield* sql`INSERT INTO domain_mutes (id, account_id, domain) VALUES (1, ${cleo}, 'x.example')`
      yield* sql`INSERT INTO bookmarks (id, account_id, status_id) VALUES (1, ${cleo}, 11)`
      yield* sql`INSERT INTO mentions (status_id, account_id) VALUES (12, ${cleo})`
      yield* sql`INSERT INTO status_pins (id, account_id, status_id) VALUES (1, ${cleo}, 13)`
      yield* sql`INSERT INTO interaction_requests (id, kind, account_id, target_account_id, status_id, state, created_at)
        VALUES (1, 'favourite', ${cleo}, ${dan}, 14, 'pending', ${at})`
      const told: Record<string, Set<bigint>> = { relations: new Set(), status: new Set() }
      yield* (yield* Broadcast).onMessage((message) => {
        if (message._tag === "Changed") { for (const id of message.ids) told[message.kind]?.add(id) }
      })
      yield* purges.retire(cleo)
      // Each kind of row takes a slice, and a transaction.
      yield* Effect.repeat(sql.withTransaction(purges.advance(cleo)), { times: 15 })
      assert.deepStrictEqual(told["status"], new Set([11n, 12n, 13n, 14n]))
      assert.deepStrictEqual(told["relations"], new Set([cleo, dan, eve].map(BigInt)))
    }).pipe(Effect.scoped))
})
