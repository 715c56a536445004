import { assert, layer } from "@effect/vitest"
import { Clock, Deferred, Effect, Fiber, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { AccountId } from "../../../src/services/database/Ids.ts"
import { accountCandidatesMax, Search } from "../../../src/services/discovery/Search.ts"
import { ServerConfig } from "../../../src/services/instance/ServerConfig.ts"
import { person } from "../../support/People.ts"
import { configuration } from "../../support/Reads.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"

const layerSearch = Search.layer.pipe(
  Layer.provideMerge(TestDatabase.layer),
  Layer.provide(Layer.succeed(ServerConfig, configuration))
)

const named = Effect.fnUntraced(function*(username: string, displayName: string) {
  const sql = yield* SqlClient.SqlClient
  const id = yield* person(username)
  yield* sql`UPDATE accounts SET display_name = ${displayName} WHERE id = ${id}`
  return id
})

const find = Effect.fnUntraced(function*(text: string, viewer?: AccountId, more: {
  readonly following?: boolean
  readonly limit?: number
  readonly offset?: number
} = {}) {
  const search = yield* Search
  return yield* search.accounts(viewer, { text, following: false, limit: 20, offset: 0, ...more })
})

/** Returns the plan of a query under the settings of a search. */
const planOf = Effect.fnUntraced(function*(query: string) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql.unsafe<{ queryPlan: string }>(`EXPLAIN ${query}`)
  return rows.map((row) => Object.values(row)[0]).join("\n")
})

layer(layerSearch, { excludeTestServices: true })("search of accounts", (it) => {
  it.effect("finds by the start of the name and of words of the display name, the exact name first", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const anna = yield* named("anna", "Johanna Müller")
      const annabel = yield* named("annabel", "Bel")
      const muller = yield* named("mueller", "Anna-Lena")
      yield* sql`UPDATE account_stats SET followers_count = 9 WHERE account_id = ${annabel}`
      assert.deepStrictEqual(yield* find("Anna"), [anna, annabel, muller])
      assert.deepStrictEqual(yield* find("@anna"), [anna, annabel, muller])
      const reader = yield* named("reader", "")
      yield* sql`INSERT INTO follows (id, account_id, target_account_id, created_at) VALUES (9, ${reader}, ${muller}, '2026-01-01')`
      assert.deepStrictEqual(yield* find("anna", reader), [anna, muller, annabel])
      assert.deepStrictEqual(yield* find("müller johanna"), [anna])
      assert.deepStrictEqual(yield* find("lena"), [muller])
      assert.deepStrictEqual(yield* find("ohanna"), [])
      assert.deepStrictEqual(yield* find("a", undefined, { limit: 1, offset: 1 }), [anna])
      assert.deepStrictEqual(yield* find("anna@local.example"), [anna])
      assert.deepStrictEqual(yield* find("anna@elsewhere.example"), [])
    }))

  it.effect("takes every text literally", () =>
    Effect.gen(function*() {
      yield* named("under_score", "100% real")
      for (
        const text of [
          "%",
          "_",
          "\\",
          "'",
          "& | !",
          ":*",
          "a:*b",
          "🐦",
          "\u{10ffff}",
          "@",
          "@@",
          " ",
          "((",
          "anna & !x"
        ]
      ) {
        yield* find(text)
      }
      assert.deepStrictEqual(yield* find("und%"), [])
      assert.strictEqual((yield* find("under_")).length, 1)
      assert.strictEqual((yield* find("100%")).length, 1)
    }))

  it.effect("row 62, F34: leaves out accounts that block the viewer, suspended, moved and unconfirmed ones, but not those that the viewer hides", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const now = new Date(yield* Clock.currentTimeMillis)
      const viewer = yield* named("viewer", "")
      const hidden: Array<AccountId> = []
      for (const kind of ["blocked", "muted", "blocking", "suspended", "moved", "waiting"]) {
        hidden.push(yield* named(`zoe_${kind}`, "Zoe"))
      }
      const [blocked, muted, blocking, suspended, moved, waiting] = hidden
      const shown = yield* named("zoe", "Zoe")
      yield* sql`INSERT INTO blocks (id, account_id, target_account_id) VALUES (1, ${viewer}, ${blocked!}), (2, ${blocking!}, ${viewer})`
      yield* sql`INSERT INTO mutes (id, account_id, target_account_id) VALUES (1, ${viewer}, ${muted!})`
      yield* sql`UPDATE accounts SET suspended_at = ${now} WHERE id = ${suspended!}`
      yield* sql`UPDATE accounts SET moved_to_id = ${shown} WHERE id = ${moved!}`
      yield* sql`UPDATE users SET confirmed_at = NULL WHERE account_id = ${waiting!}`
      yield* sql`INSERT INTO domain_mutes (id, account_id, domain) VALUES (1, ${viewer}, 'far.example')`
      const far = yield* named("zoe_far", "Zoe")
      yield* sql`DELETE FROM users WHERE account_id = ${far}`
      yield* sql`UPDATE accounts SET domain = 'far.example' WHERE id = ${far}`
      assert.sameMembers([...(yield* find("zoe", viewer))], [shown, blocked, muted, far])
      assert.deepStrictEqual(yield* find("@zoe_muted@local.example", viewer), [muted!])
      assert.deepStrictEqual(yield* find("zoe_blocked", viewer), [blocked!])
      assert.deepStrictEqual(yield* find("zoe_blocking", viewer), [])
      assert.sameMembers([...(yield* find("zoe"))], [shown, blocked, muted, blocking, far])
      assert.deepStrictEqual(yield* find("zoe", viewer, { following: true }), [])
      yield* sql`INSERT INTO follows (id, account_id, target_account_id, created_at) VALUES (1, ${viewer}, ${shown}, ${now})`
      assert.deepStrictEqual(yield* find("zoe", viewer, { following: true }), [shown])
    }))

  it.effect("row 83: reads a bounded number of rows by an index, and gives up at its timeout", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const now = new Date(yield* Clock.currentTimeMillis)
      yield* sql`INSERT INTO accounts (id, username, domain, display_name, created_at, updated_at)
        SELECT 1000000 + i, 'same' || i, 'remote.example', 'Same ' || i, ${now}, ${now} FROM generate_series(1, 20000) i`
      yield* sql`ANALYZE accounts`
      assert.strictEqual((yield* find("same", undefined, { limit: 40 })).length, 40)
      assert.isAtMost((yield* find("same", undefined, { limit: 100_000 })).length, 2 * accountCandidatesMax)
      const byName = yield* planOf(
        `SELECT id FROM accounts a WHERE lower(a.username) ~>=~ 'anna' AND lower(a.username) ~<~ 'anna\u{10ffff}'`
      )
      assert.include(byName, "accounts_username_start")
      const byWord = yield* planOf(
        `SELECT id FROM accounts a WHERE a.display_name <> '' AND to_tsvector('simple', a.display_name) @@ to_tsquery('simple', 'lena:*')`
      )
      assert.include(byWord, "accounts_display_name")

      // A search's wait for a locked table is bounded.
      const locked = yield* Deferred.make<void>()
      const searching = yield* Effect.forkChild(Effect.andThen(Deferred.await(locked), find("anna")))
      const found = yield* sql`LOCK TABLE accounts IN ACCESS EXCLUSIVE MODE`.pipe(
        Effect.andThen(Deferred.succeed(locked, undefined)),
        Effect.andThen(Fiber.join(searching)),
        sql.withTransaction
      )
      assert.deepStrictEqual(found, [])
      assert.strictEqual((yield* find("anna")).length, 3)
    }))
})

layer(layerSearch, { excludeTestServices: true })("search of hashtags", (it) => {
  it.effect("F34, F91: hashtags by the start of their name in any spelling, with and without #; short ones first", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const search = yield* Search
      const now = new Date(yield* Clock.currentTimeMillis)
      yield* sql`INSERT INTO tags (id, name, display_name, listable, created_at, last_status_at) VALUES
        (1, 'cafe', 'Café', true, ${now}, NULL), (2, 'cafes', 'cafes', true, ${now}, ${now}),
        (3, 'cafehaus', 'CafeHaus', false, ${now}, ${now})`
      const tags = (text: string, offset = 0, reviewed = false) => search.tags(text, { limit: 10, offset, reviewed })
      yield* sql`INSERT INTO tags (id, name, display_name, created_at, last_status_at) VALUES
        (4, 'cafeteria', 'cafeteria', ${now}, ${now}), (5, 'cafei', 'cafei', ${now}, NULL)`
      assert.deepStrictEqual(yield* tags("CAFÉ"), [1n, 5n, 2n, 4n])
      assert.deepStrictEqual(yield* tags("caf", 2), [2n, 4n])
      assert.deepStrictEqual(yield* tags("#CAFÉ"), [1n, 5n, 2n, 4n])
      assert.deepStrictEqual(yield* tags("＃cafet"), [4n])
      assert.deepStrictEqual(yield* tags("#"), [])
      assert.deepStrictEqual(yield* tags("%"), [])
      yield* sql`UPDATE tags SET reviewed_at = ${now} WHERE id = 4`
      assert.deepStrictEqual(yield* tags("caf", 0, true), [4n])
      assert.deepStrictEqual(yield* tags("cafe", 0, true), [1n, 4n])
    }))
})
