import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { limits } from "../../../src/http/guard/Limits.ts"
import { publishedId } from "../../support/Api.ts"
import { TestServer } from "../../support/Server.ts"
import { staffBrowser } from "../../support/StaffBrowser.ts"

layer(TestServer.layer(), { excludeTestServices: true })("restricted members", (it) => {
  it.effect("F285: visits with a session count like those with a token, once a day, and only of active members", () =>
    Effect.gen(function*() {
      const { createPerson } = yield* TestServer
      const sql = yield* SqlClient.SqlClient
      const [vera, walt] = [yield* createPerson("vera"), yield* createPerson("walt")]
      const seen = Effect.map(
        sql<{ at: Date | null; days: number }>`SELECT last_seen_at AS at,
          (SELECT count(*)::int FROM active_days d WHERE d.account_id = u.account_id) AS days
          FROM users u WHERE account_id IN (${vera.accountId}, ${walt.accountId}) ORDER BY account_id`,
        (rows) => rows
      )
      const [browser, other] = [yield* staffBrowser(vera), yield* staffBrowser(walt)]
      yield* sql`UPDATE users SET last_seen_at = NULL WHERE account_id IN (${vera.accountId}, ${walt.accountId})`
      yield* sql`DELETE FROM active_days`
      yield* sql`UPDATE users SET approved = false WHERE account_id = ${walt.accountId}`
      yield* browser.get("/home")
      yield* other.get("/home")
      const [first, waiting] = yield* seen
      assert.isNotNull(first?.at)
      assert.strictEqual(first?.days, 1)
      assert.deepStrictEqual(waiting, { at: null, days: 0 })
      yield* browser.get("/home")
      assert.deepStrictEqual((yield* seen)[0], first, "not written again within a day")
    }))

  it.effect("F202: are refused by pages and actions exactly where the API refuses them", () =>
    Effect.gen(function*() {
      const { createPerson, fetch } = yield* TestServer
      const sql = yield* SqlClient.SqlClient
      const [ada, bob] = [yield* createPerson("ada"), yield* createPerson("bob")]
      const id = yield* publishedId(bob, "hello")
      const browser = yield* staffBrowser(ada)
      const page = yield* browser.get(`/@bob/${id}`)
      const states = [
        ["users", "confirmed_at = NULL", "confirmed_at = now()"],
        ["users", "approved = false", "approved = true"],
        ["accounts", `moved_to_id = ${bob.accountId}`, "moved_to_id = NULL"]
      ] as const
      for (const [table, change, undo] of states) {
        const column = table === "users" ? "account_id" : "id"
        const set = (what: string) =>
          sql`UPDATE ${sql.literal(table)} SET ${sql.literal(what)} WHERE ${sql.literal(column)} = ${ada.accountId}`
        yield* set(change)
        const token = yield* (yield* TestServer).createToken(ada.accountId, ["read", "write"])
        const statusOf = (path: string) => Effect.map(fetch(path, { token }), ({ status }) => status)
        assert.strictEqual((yield* browser.get("/home")).status, yield* statusOf("/api/v1/timelines/home"), change)
        assert.strictEqual((yield* browser.get("/home")).status, 403, change)
        assert.strictEqual(
          (yield* browser.get(`/@bob/${id}`)).status,
          yield* statusOf(`/api/v1/statuses/${id}`),
          change
        )
        yield* browser.press(page, "favourite")
        const [row] = yield* sql<{ n: number }>`SELECT count(*)::int AS n FROM favourites WHERE status_id = ${id}`
        assert.strictEqual(row?.n, 0, change)
        yield* set(undo)
      }
      yield* sql`UPDATE users SET disabled = true WHERE account_id = ${ada.accountId}`
      assert.strictEqual((yield* browser.get("/home")).status, 302)
    }))
})

layer(TestServer.layer({ RATE_LIMITS: "on" }), { excludeTestServices: true })(
  "limits of pages",
  (it) => {
    it.effect("F203: count members by account and visitors by address, also with a cookie of no session", () =>
      Effect.gen(function*() {
        const { createPerson, fetch } = yield* TestServer
        const dora = yield* createPerson("dora")
        const browser = yield* staffBrowser(dora)
        const statusOf = (cookie?: string) =>
          Effect.flatMap(
            fetch("/about", cookie === undefined ? {} : { headers: { cookie } }),
            (response) => Effect.as(Effect.promise(() => response.text()), response.status)
          )
        const seen = yield* Effect.forEach(
          Array.from({ length: limits.pageAddress.uses + 1 }),
          () => statusOf("session=forged"),
          { concurrency: 10 }
        )
        assert.isAtLeast(seen.filter((status) => status === 429).length, 1)
        assert.strictEqual(yield* statusOf(), 429)
        assert.strictEqual((yield* browser.get("/home")).status, 200)
      }))
  }
)
