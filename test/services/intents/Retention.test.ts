import { assert, layer } from "@effect/vitest"
import { Clock, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Retention } from "../../../src/services/intents/Retention.ts"
import { person } from "../../support/People.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"

const Live = Retention.layer.pipe(Layer.provideMerge(TestDatabase.layer))
const day = 86_400_000

layer(Live, { excludeTestServices: true })("Retention", (it) => {
  it.effect("removes what has served its time, reblogs before their originals, and nothing younger", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const retention = yield* Retention
      const now = yield* Clock.currentTimeMillis
      const ago = (days: number) => new Date(now - days * day)
      const author = yield* person("author")
      const sleeper = yield* person("sleeper")
      const fresh = yield* person("fresh")
      yield* sql`UPDATE users SET confirmed_at = NULL, created_at = ${ago(8)} WHERE account_id = ${sleeper}`
      yield* sql`UPDATE users SET confirmed_at = NULL, created_at = ${ago(6)} WHERE account_id = ${fresh}`
      const status = (id: bigint, deletedDays: number | undefined, reblogOf: bigint | null = null) =>
        sql`INSERT INTO statuses (id, account_id, visibility, conversation_id, reblog_of_id, created_at, deleted_at)
          VALUES (${id}, ${author}, 'public', ${id}, ${reblogOf}, ${ago(60)}, ${
          deletedDays === undefined ? null : ago(deletedDays)
        })`
      yield* status(1n, undefined)
      yield* status(2n, 29)
      yield* status(3n, 31)
      yield* status(4n, 31, 3n)
      yield* sql`INSERT INTO mail_tokens (token_hash, account_id, purpose, email, expires_at, created_at)
        VALUES ('a', ${author}, 'confirmation', 'a@b.c', ${ago(1)}, ${
        ago(3)
      }), ('b', ${author}, 'confirmation', 'a@b.c', ${ago(-1)}, ${ago(1)})`
      yield* retention.sweep
      yield* retention.sweep
      const left = yield* sql<{ id: bigint }>`SELECT id FROM statuses ORDER BY id`
      assert.deepStrictEqual(left.map(({ id }) => id), [1n, 2n])
      const people = yield* sql<{ username: string }>`SELECT username FROM accounts ORDER BY username`
      assert.deepStrictEqual(people.map(({ username }) => username), ["author", "fresh"])
      const links = yield* sql`SELECT convert_from(token_hash, 'UTF8') AS hash FROM mail_tokens`
      assert.deepStrictEqual(links, [{ hash: "b" }])
    }))
})
