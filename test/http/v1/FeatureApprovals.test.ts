import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { ask, newPerson } from "../../support/Api.ts"
import { type Person, TestServer } from "../../support/Server.ts"

layer(TestServer.layer(), { excludeTestServices: true })("permissions to feature accounts", (it) => {
  it.effect("row 56: an account's JSON tells each viewer if they may add it to a collection, and adding it agrees", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const [open, locked, shy, foe, me] = [
        yield* newPerson("open"),
        yield* newPerson("locked"),
        yield* newPerson("shy"),
        yield* newPerson("foe"),
        yield* newPerson("me")
      ]
      const set = (one: Person, json: object) => ask(one, "PATCH", "/api/v1/accounts/update_credentials", json)
      yield* set(open, { discoverable: true })
      yield* set(locked, { discoverable: true, locked: true })
      yield* set(shy, { discoverable: false })
      yield* set(foe, { discoverable: true })
      yield* ask(foe, "POST", `/api/v1/accounts/${me.accountId}/block`)
      const approval = (one: { readonly accountId: bigint }, by: Person | undefined = me) =>
        Effect.map(
          ask(by, "GET", `/api/v1/accounts/${one.accountId}`),
          ({ body }) => body.feature_approval.current_user
        )
      const { body: { collection } } = yield* ask(me, "POST", "/api/v1/collections", { name: "Birds" })
      const added = (one: { readonly accountId: bigint }) =>
        Effect.map(
          ask(me, "POST", `/api/v1/collections/${collection.id}/items`, { account_id: String(one.accountId) }),
          ({ status }) => status
        )
      const agrees = Effect.fnUntraced(function*(one: { readonly accountId: bigint }, expected: string) {
        assert.strictEqual(yield* approval(one), expected)
        assert.strictEqual(yield* added(one), expected === "denied" ? 403 : 200)
      })
      yield* agrees(open, "automatic")
      yield* agrees(shy, "denied")
      yield* agrees(foe, "denied")
      yield* agrees(locked, "denied")
      yield* ask(me, "POST", `/api/v1/accounts/${locked.accountId}/follow`)
      yield* ask(locked, "POST", `/api/v1/follow_requests/${me.accountId}/authorize`)
      yield* agrees(locked, "automatic")
      assert.strictEqual(yield* approval(locked, open), "denied")
      const whoever = yield* TestServer.use(({ fetch }) => fetch(`/api/v1/accounts/${open.accountId}`))
      assert.include(yield* Effect.promise(() => whoever.text()), `"current_user":"automatic"`)

      // Local decisions about remote accounts, and servers without a policy.
      const now = new Date()
      const remote = Effect.fnUntraced(function*(accountId: bigint, automatic: string | null, manual: string | null) {
        yield* sql`INSERT INTO accounts (id, username, domain, uri, created_at, updated_at)
          VALUES (${accountId}, ${`far${accountId}`}, 'far.example', ${`https://far.example/${accountId}`}, ${now}, ${now})`
        yield* sql`INSERT INTO remote_actors (account_id, type, inbox_url, fetched_at, feature_automatic, feature_manual)
          VALUES (${accountId}, 'Person', ${`https://far.example/${accountId}/inbox`}, ${now}, ${automatic}::text[], ${manual}::text[])`
        return { accountId }
      })
      const follower = yield* remote(7n, "{followers}", "{public}")
      const silent = yield* remote(8n, null, null)
      const odd = yield* remote(9n, "{unsupported_policy}", "{}")
      yield* agrees(follower, "manual")
      yield* sql`INSERT INTO follows (id, account_id, target_account_id, created_at)
        VALUES (1, ${me.accountId}, 7, ${now})`
      assert.strictEqual(yield* approval(follower), "automatic")
      assert.strictEqual(yield* approval(silent), "missing")
      assert.strictEqual(yield* approval(odd), "unknown")

      // Every endpoint with accounts returns the same.
      const lists: ReadonlyArray<
        Effect.Effect<ReadonlyArray<{ readonly id: string; readonly feature_approval: object }>, never, TestServer>
      > = [
        Effect.map(ask(me, "GET", `/api/v1/accounts?id[]=${locked.accountId}`), ({ body }) => body),
        Effect.map(ask(me, "GET", "/api/v1/accounts/lookup?acct=locked"), ({ body }) => [body]),
        Effect.map(ask(me, "GET", "/api/v1/accounts/search?q=locked"), ({ body }) => body),
        Effect.map(ask(me, "GET", "/api/v2/search?q=locked"), ({ body }) => body.accounts)
      ]
      for (const list of lists) {
        const found = (yield* list).find(({ id }) => id === String(locked.accountId))
        assert.deepInclude(found?.feature_approval, { current_user: "automatic" })
      }
    }))
})
