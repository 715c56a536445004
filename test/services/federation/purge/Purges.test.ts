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
  it.effect("row 11, F20: is kept until every recipient is told, as it determines the recipients", () =>
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
})
