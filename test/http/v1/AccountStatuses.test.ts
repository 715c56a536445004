import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Status } from "../../../src/http/wire/Status.ts"
import { get, ids, links } from "../../support/Requests.ts"
import { issueToken } from "../../support/SignedIn.ts"
import { server } from "../../support/WebServer.ts"

const at = new Date("2026-06-01T12:34:56Z")
const decode = Schema.decodeUnknownEffect(Status, { onExcessProperty: "error" })

const settle = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`INSERT INTO accounts (id, username, created_at, updated_at) VALUES (1, 'anna', ${at}, ${at}), (2, 'ben', ${at}, ${at})`
  yield* sql`INSERT INTO users (account_id, email, password_hash, confirmed_at, created_at)
    SELECT id, id || '@local.example', '', ${at}, ${at} FROM accounts`
})

layer(server(), { excludeTestServices: true })("statuses of an account", (it) => {
  it.effect("S-120 to S-124, S-135, S-206: an account's statuses by kind and page, the pinned ones in their own order", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      yield* settle
      const status = (id: number, more: Record<string, unknown> = {}) =>
        sql`INSERT INTO statuses ${
          sql.insert({ id, accountId: 1, visibility: "public", conversationId: 10, createdAt: at, ...more })
        }`
      yield* status(10)
      yield* status(11, { inReplyToId: 10, inReplyToAccountId: 1 })
      yield* status(12, { inReplyToId: 10, inReplyToAccountId: 2 })
      yield* status(13, { accountId: 2 })
      yield* status(14, { reblogOfId: 13 })
      yield* status(15, { visibility: "private" })
      yield* status(16, { visibility: "direct" })
      yield* sql`INSERT INTO tags (id, name, display_name, created_at) VALUES (1, 'eis', 'Eis', ${at})`
      yield* sql`INSERT INTO statuses_tags (tag_id, status_id) VALUES (1, 11), (1, 15)`
      yield* sql`INSERT INTO status_pins (id, account_id, status_id) VALUES (1, 1, 15), (2, 1, 10), (3, 1, 11)`
      const path = "/api/v1/accounts/1/statuses"
      const own = yield* issueToken(1n)
      assert.deepStrictEqual(yield* ids(path), ["14", "12", "11", "10"])
      assert.deepStrictEqual(yield* ids(path, own), ["16", "15", "14", "12", "11", "10"])
      assert.deepStrictEqual(yield* ids(`${path}?exclude_replies=true`), ["14", "11", "10"])
      assert.deepStrictEqual(yield* ids(`${path}?exclude_reblogs=1&exclude_replies=f`), ["12", "11", "10"])
      assert.deepStrictEqual(yield* ids(`${path}?exclude_direct=true`, own), ["15", "14", "12", "11", "10"])
      assert.deepStrictEqual(yield* ids(`${path}?tagged=EIS`), ["11"])
      assert.deepStrictEqual(yield* ids(`${path}?only_media=true`, own), [])
      assert.deepStrictEqual(yield* ids(`${path}?only_media=false&exclude_replies=0`), ["14", "12", "11", "10"])

      const page = yield* get(`${path}?limit=2&exclude_replies=true&access_token=${own}`)
      assert.deepStrictEqual(page.body.map(({ id }: { readonly id: string }) => id), ["16", "15"])
      yield* Effect.forEach(page.body as ReadonlyArray<unknown>, (value) => decode(value))
      assert.deepStrictEqual(links(page.headers), {
        next: `${path}?limit=2&exclude_replies=true&max_id=15`,
        prev: `${path}?limit=2&exclude_replies=true&min_id=16`
      })
      assert.deepStrictEqual(yield* ids(`${path}?min_id=10&limit=2`), ["12", "11"])
      assert.deepStrictEqual(yield* ids(`${path}?since_id=10&limit=2`), ["14", "12"])
      assert.deepStrictEqual(yield* ids(`${path}?min_id=10&max_id=14&limit=5`), ["12", "11"])
      assert.deepStrictEqual(yield* ids(`${path}?limit=0`), [])
      assert.deepStrictEqual(yield* ids(`${path}?limit=-1`), ["14"])
      assert.deepStrictEqual(yield* ids(`${path}?limit=abc&max_id=abc`), ["14", "12", "11", "10"])
      assert.strictEqual((yield* get(`${path}?max_id=10`)).headers.get("link"), null)

      const pinned = yield* get(`${path}?pinned=true`)
      assert.deepStrictEqual(pinned.body.map(({ id }: { readonly id: string }) => id), ["11", "10"])
      assert.strictEqual(pinned.headers.get("link"), null)
      assert.deepStrictEqual(yield* ids(`${path}?pinned=true`, own), ["11", "10", "15"])
      const mine = (yield* get(`${path}?pinned=true`, own)).body
      assert.deepStrictEqual(mine.map(({ pinned }: { readonly pinned: boolean }) => pinned), [true, true, true])
      yield* sql`INSERT INTO statuses (id, account_id, visibility, conversation_id, created_at)
        SELECT i, 1, 'public', i, ${at} FROM generate_series(100, 199) i`
      assert.strictEqual((yield* ids(path)).length, 20)
      assert.strictEqual((yield* ids(`${path}?limit=1000`)).length, 40)
      const headers = (yield* get(path)).headers
      assert.strictEqual(headers.get("cache-control"), "private, no-store")

      // A list with posts needs no check that the account exists; for an empty one, a missing account must get 404.
      const responses = Effect.fnUntraced(function*(account: number) {
        const pages = ["", "?pinned=true", "?limit=0", "?max_id=1"].map((query) =>
          `/api/v1/accounts/${account}/statuses${query}`
        )
        return yield* Effect.forEach(pages, (page) =>
          Effect.map(get(page, own), ({ body, headers, status }) => [
            status,
            Array.isArray(body) ? body.length : body,
            headers.get("link")
          ]))
      })
      const missing = [404, { error: "Record not found" }, null]
      const empty = [200, 0, null]
      assert.deepStrictEqual(yield* responses(3), [missing, missing, missing, missing])
      assert.deepStrictEqual((yield* responses(2)).slice(1), [empty, empty, empty])
      yield* sql`UPDATE accounts SET suspended_at = ${at} WHERE id = 2`
      assert.deepStrictEqual(yield* responses(2), [empty, empty, empty, empty])
      yield* sql`UPDATE accounts SET suspended_at = NULL WHERE id = 2`
      yield* sql`UPDATE users SET approved = false WHERE account_id = 2`
      assert.deepStrictEqual(yield* responses(2), [missing, missing, missing, missing])
      yield* sql`UPDATE users SET approved = true, confirmed_at = NULL WHERE account_id = 2`
      assert.deepStrictEqual(yield* responses(2), [missing, missing, missing, missing])
    }))
})
