import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Broadcast } from "../../../src/services/events/Broadcast.ts"
import { emptyTables } from "../../support/EmptyTables.ts"
import { eventually } from "../../support/Eventually.ts"
import { get } from "../../support/Requests.ts"
import { issueToken } from "../../support/SignedIn.ts"
import { server } from "../../support/WebServer.ts"

const at = new Date("2026-06-01T12:00:00Z")

/** Inserts accounts 1 to 3; status 10 by 1, with replies by 2 (11) and, for the followers of 3, by 3 (12). */
const settle = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* emptyTables("accounts", "statuses")
  yield* sql`INSERT INTO accounts (id, username, created_at, updated_at)
    SELECT i, 'account' || i, ${at}, ${at} FROM generate_series(1::bigint, 3) i`
  yield* sql`INSERT INTO users (account_id, email, password_hash, confirmed_at, created_at)
    SELECT id, id || '@local.example', '', ${at}, ${at} FROM accounts`
  yield* status(10, 1)
  yield* status(11, 2, { inReplyToId: 10 })
  yield* status(12, 3, { inReplyToId: 10, visibility: "private" })
  yield* changed("status", 10n)
})
const status = Effect.fnUntraced(function*(id: number, by: number, more: Record<string, unknown> = {}) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`INSERT INTO statuses ${
    sql.insert({ id, accountId: by, visibility: "public", conversationId: 10, createdAt: at, local: true, ...more })
  }`
})
const changed = (kind: "status" | "account", ...ids: ReadonlyArray<bigint>) =>
  Broadcast.use((broadcast) => broadcast.publish({ _tag: "Changed", kind, ids }))

const below = (by?: string) =>
  Effect.map(
    get("/api/v1/statuses/10/context", by),
    ({ body, status }): ReadonlyArray<string> | number =>
      status === 200 ? body.descendants.map(({ id }: { readonly id: string }) => id) : status
  )
const comesTo = (wanted: ReadonlyArray<string> | number) =>
  Effect.map(
    eventually(below(), (found) => JSON.stringify(found) === JSON.stringify(wanted)),
    (found) => assert.deepStrictEqual(found, wanted)
  )

layer(server(), { excludeTestServices: true })("contexts", (it) => {
  it.effect("F18: cached for visitors until a status or author of the thread changes, and only for visitors", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      yield* settle
      yield* comesTo(["11"])
      yield* status(13, 2, { inReplyToId: 11 })
      assert.deepStrictEqual(yield* below(), ["11"], "it is kept")
      assert.deepStrictEqual(yield* below(yield* issueToken(3n)), ["11", "13", "12"], "who is known is asked for")
      yield* changed("status", 11n)
      yield* comesTo(["11", "13"])
      yield* sql`UPDATE statuses SET deleted_at = ${at} WHERE id = 13`
      yield* changed("status", 13n)
      yield* comesTo(["11"])
      yield* sql`UPDATE accounts SET suspended_at = ${at} WHERE id = 2`
      yield* changed("account", 2n)
      yield* comesTo([])
    }))

  it.effect("F18: permission is checked before the cache", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      yield* settle
      yield* comesTo(["11"])
      yield* sql`UPDATE statuses SET deleted_at = ${at} WHERE id = 10`
      assert.strictEqual(yield* below(), 404)
    }))
})
