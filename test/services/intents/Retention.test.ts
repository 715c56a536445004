import { assert, layer } from "@effect/vitest"
import { Clock, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Retention } from "../../../src/services/intents/Retention.ts"
import { person } from "../../support/People.ts"
import { retention } from "../../support/Retention.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"

const Live = retention.pipe(Layer.provideMerge(TestDatabase.layer))
const day = 86_400_000

layer(Live, { excludeTestServices: true })("Retention", (it) => {
  it.effect("removes expired rows, reblogs before their originals, and no newer ones", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
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
      yield* (yield* Retention).sweep
      yield* (yield* Retention).sweep
      const left = yield* sql<{ id: bigint }>`SELECT id FROM statuses ORDER BY id`
      assert.deepStrictEqual(left.map(({ id }) => id), [1n, 2n])
      const people = yield* sql<{ username: string }>`SELECT username FROM accounts ORDER BY username`
      assert.deepStrictEqual(people.map(({ username }) => username), ["author", "fresh"])
      const links = yield* sql`SELECT convert_from(token_hash, 'UTF8') AS hash FROM mail_tokens`
      assert.deepStrictEqual(links, [{ hash: "b" }])
    }))

  it.effect("F256: releases the files of transfers that did not finish, and keeps those of others", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const owner = yield* person("archivist")
      const states = ["failed", "cancelled", "unconfirmed", "in_progress", "finished"]
      for (const [n, state] of states.entries()) {
        yield* sql`INSERT INTO transfers (id, account_id, kind, state, due_at, created_at, expires_at)
          VALUES (${BigInt(n)}, ${owner}, 'archive_in', ${state}, now(), now(), now() + interval '1 day')`
        yield* sql`INSERT INTO stored_files (name, transfer_id, created_at)
          VALUES (${state}, ${BigInt(n)}, now()), (${`upload ${state}`}, ${BigInt(n)}, now())`
        yield* sql`INSERT INTO archive_files (transfer_id, path, name, type, bytes)
          VALUES (${BigInt(n)}, 'a.png', ${state}, 'image/png', 1)`
      }
      yield* (yield* Retention).sweep
      const held = yield* sql<{ name: string }>`SELECT name FROM stored_files WHERE transfer_id IS NOT NULL`
      const retained = ["unconfirmed", "in_progress", "finished"]
      assert.sameMembers(held.map(({ name }) => name), [...retained, ...retained.map((state) => `upload ${state}`)])
      const listed = yield* sql<{ name: string }>`SELECT name FROM archive_files`
      assert.sameMembers(listed.map(({ name }) => name), retained)
    }))

  it.effect("F20: continues until nothing is left, and a row that cannot be removed does not stop it", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const now = yield* Clock.currentTimeMillis
      const past = new Date(now - 400 * day)
      const count = (table: string) =>
        Effect.map(sql<{ count: number }>`SELECT count(*)::int AS count FROM ${sql(table)}`, ([row]) => row?.count)
      yield* sql`INSERT INTO look_ups (kind, subject_id, begun_at) SELECT 'replies', n, ${past} FROM generate_series(1, 5000) n`
      yield* sql`INSERT INTO mail_tokens (token_hash, account_id, purpose, email, expires_at, created_at)
        VALUES ('stuck', ${yield* person("stuck")}, 'confirmation', 'a@b.c', ${past}, ${past})`
      yield* sql`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE ''not now''; END'`
      yield* sql`CREATE TRIGGER refuse BEFORE DELETE ON mail_tokens EXECUTE FUNCTION refuse()`
      // The database is reused, whatever the outcome.
      const swept = yield* Effect.ensuring((yield* Retention).sweep, Effect.orDie(sql`DROP FUNCTION refuse CASCADE`))
      assert.strictEqual(swept, 5_000)
      assert.strictEqual(yield* count("look_ups"), 0)
      assert.strictEqual(yield* (yield* Retention).sweep, 1)
    }))

  it.effect("F20: removes apps and their own tokens unused for 90 days, and none that a user authorized", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const now = yield* Clock.currentTimeMillis
      const ago = (days: number) => new Date(now - days * day)
      const user = yield* person("owner")
      const app = (id: bigint, createdDays: number, authorizedDays?: number) =>
        sql`INSERT INTO oauth_apps (id, client_id, client_secret_hash, name, redirect_uris, scopes, created_at, authorized_at)
          VALUES (${id}, ${`client ${id}`}, 'x', 'App', '{}', 'read', ${ago(createdDays)}, ${
          authorizedDays === undefined ? null : ago(authorizedDays)
        })`
      const token = (id: bigint, appId: bigint, account: bigint | null, createdDays: number, usedDays?: number) =>
        sql`INSERT INTO oauth_tokens (id, token_hash, app_id, account_id, scopes, created_at, last_used_at)
          VALUES (${id}, ${`token ${id}`}, ${appId}, ${account}, 'read', ${ago(createdDays)}, ${
          usedDays === undefined ? null : ago(usedDays)
        })`
      yield* app(1n, 91)
      yield* app(2n, 89)
      yield* app(3n, 200)
      yield* token(3n, 3n, null, 200, 91)
      yield* app(4n, 200)
      yield* token(4n, 4n, null, 200, 10)
      yield* app(5n, 200, 199)
      yield* app(6n, 200, 199)
      yield* token(6n, 6n, user, 199, 150)
      yield* sql`INSERT INTO statuses (id, account_id, visibility, conversation_id, application_id, created_at)
        VALUES (900, ${user}, 'public', 900, 5, ${ago(150)})`
      yield* (yield* Retention).sweep
      const apps = yield* sql<{ id: bigint }>`SELECT id FROM oauth_apps ORDER BY id`
      assert.deepStrictEqual(apps.map(({ id }) => id), [2n, 4n, 5n, 6n])
      const tokens = yield* sql<{ id: bigint }>`SELECT id FROM oauth_tokens ORDER BY id`
      assert.deepStrictEqual(tokens.map(({ id }) => id), [4n, 6n])
    }))

  it.effect("F20: references to removed rows have an index, or a sweep of thousands takes too long", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      // Staff remove roles singly.
      const slow = yield* sql`SELECT r.conrelid::regclass || '.' || c.attname AS column FROM pg_constraint r
        JOIN pg_attribute c ON c.attrelid = r.conrelid AND c.attnum = r.conkey[1]
        WHERE r.contype = 'f' AND r.confrelid <> 'roles'::regclass
          AND NOT EXISTS (SELECT FROM pg_index i WHERE i.indrelid = r.conrelid AND i.indkey[0] = c.attnum
            AND (i.indpred IS NULL OR pg_get_expr(i.indpred, i.indrelid) = format('(%I IS NOT NULL)', c.attname)))`
      assert.deepStrictEqual(slow, [])
    }))
})
