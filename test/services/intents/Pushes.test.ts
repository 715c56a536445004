import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { enqueued, Pushes, waitingMax } from "../../../src/services/intents/Pushes.ts"
import { person } from "../../support/People.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"

layer(TestDatabase.layer, { excludeTestServices: true })("pending pushes", (it) => {
  it.effect("F74: pushes of strangers leave capacity for those of accounts that the owner follows", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const [owner, friend, stranger] = [yield* person("owner"), yield* person("friend"), yield* person("stranger")]
      yield* sql`INSERT INTO follows (id, account_id, target_account_id, created_at) VALUES (1, ${owner}, ${friend}, now())`
      yield* sql`INSERT INTO oauth_tokens (id, token_hash, account_id, scopes, created_at)
        VALUES (1, 'x', ${owner}, 'push', now())`
      yield* sql`INSERT INTO push_subscriptions (token_id, account_id, endpoint, p256dh, auth, standard, policy,
          alerts, sealed_token, created_at)
        VALUES (1, ${owner}, '', '', '', true, 'all', '{"mention": true}', '', now())`
      let id = 0
      const mentioned = (by: bigint) =>
        sql`WITH told AS (SELECT ${++id}::bigint AS id, ${owner}::bigint AS account_id, 'mention'::text AS type,
            ${by}::bigint AS from_account_id, false AS filtered), ${enqueued(sql, new Date(0), sql`NULL`)} SELECT`
      const waiting = Effect.map(
        sql<{ count: number }>`SELECT count(*)::int AS count FROM pushes`,
        ([row]) => row!.count
      )
      yield* Effect.repeat(Effect.suspend(() => mentioned(stranger)), { times: waitingMax.ofAll })
      assert.strictEqual(yield* waiting, waitingMax.ofStrangers)
      yield* Effect.repeat(Effect.suspend(() => mentioned(friend)), { times: waitingMax.ofAll })
      assert.strictEqual(yield* waiting, waitingMax.ofAll)
    }))

  it.effect("F211: a push is given up if its process died in every attempt, and the next one is sent", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      yield* sql`UPDATE pushes SET tries = 6, due_at = '1969-12-31'
        WHERE notification_id = (SELECT min(notification_id) FROM pushes)`
      const claimed = yield* (yield* Pushes).claim(10)
      assert.deepStrictEqual(claimed.map(({ notificationId, tries }) => [notificationId, tries]), [[2n, 1]])
    }).pipe(Effect.provide(Pushes.layer)))
})
