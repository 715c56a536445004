import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { adoptedMax } from "../../../src/services/federation/inbox/Adoptions.ts"
import { newPerson } from "../../support/Api.ts"
import { eventually } from "./Exchange.ts"
import { actorOf, mentioning, there } from "./InboxCalls.ts"
import { deliverFrom, note, servers } from "./Sending.ts"

layer(servers, { excludeTestServices: true })("replies that arrive before their post", (it) => {
  it.effect("F76: each transaction attaches a bounded number of the replies that waited for a post", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const [anna, zoe] = [yield* newPerson("anouk"), yield* there("zelda")]
      const me = yield* actorOf(anna)
      yield* deliverFrom(zoe, { type: "Create", object: note(zoe, "first", mentioning(me)) })
      const top = note(zoe, "top", mentioning(me))
      const count = 2 * adoptedMax + 1
      yield* sql`INSERT INTO statuses (id, account_id, local, uri, visibility, conversation_id, created_at, in_reply_to_uri)
        SELECT 1000 + n, a.id, false, a.uri || '/early/' || n, 'public', 1000 + n, now(), ${String(top["id"])}::text
        FROM accounts a, generate_series(1, ${sql.literal(String(count))}) n WHERE a.uri = ${zoe.id}`
      assert.strictEqual(yield* deliverFrom(zoe, { type: "Create", object: top }), "done")
      const waiting = Effect.map(
        Effect.orDie(
          sql<{ count: number }>`SELECT count(*)::int AS count FROM statuses WHERE in_reply_to_uri IS NOT NULL`
        ),
        ([row]) => row!.count
      )
      assert.isAtLeast(yield* waiting, 1)
      yield* eventually(Effect.map(waiting, (left) => left === 0 ? true : undefined))
      const [figure] = yield* sql`SELECT replies_count FROM status_stats
        WHERE status_id = (SELECT id FROM statuses WHERE uri = ${String(top["id"])})`
      assert.deepStrictEqual(figure, { repliesCount: count })
    }))
})
