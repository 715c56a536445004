import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Account, CredentialAccount, FamiliarFollowers } from "../../../src/http/wire/Account.ts"
import { Relationship } from "../../../src/http/wire/Relationship.ts"
import { Broadcast } from "../../../src/services/events/Broadcast.ts"
import { emptyTables } from "../../support/EmptyTables.ts"
import { get, ids, links, postJson } from "../../support/Requests.ts"
import { issueToken } from "../../support/SignedIn.ts"
import { server } from "../../support/WebServer.ts"

const at = new Date("2026-06-01T12:34:56Z")
const strict = { onExcessProperty: "error" } as const
const decode = <S extends Schema.ConstraintDecoder<unknown>>(schema: S) => (value: unknown) =>
  Schema.decodeUnknownEffect(schema, strict)(value)

/** Publishes the message of a command that changes accounts. */
const changed = Broadcast.use(({ publish }) =>
  publish({ _tag: "Changed", kind: "account", ids: [1n, 2n, 3n, 4n, 5n, 6n] })
)

/**
 * Inserts anna (1), ben (2), cleo (3, locked), dora (4, suspended), erik (5, not confirmed), rita (6, at
 * remote.example).
 */
const settle = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* emptyTables("accounts", "statuses", "tags")
  yield* sql`INSERT INTO accounts (id, username, domain, uri, url, display_name, note, note_html, fields, locked, suspended_at,
      silenced_at, moved_to_id, created_at, updated_at) VALUES
    (1, 'anna', NULL, NULL, NULL, 'Anna', 'I write', '<p>I write</p>',
      '[{"name":"site","value":"x","html":"<b>x</b>","verifiedAt":"2026-01-01T00:00:00.000Z"}]', false, NULL, NULL, NULL, ${at}, ${at}),
    (2, 'ben', NULL, NULL, NULL, 'Ben', '', '', '[]', false, NULL, ${at}, NULL, ${at}, ${at}),
    (3, 'cleo', NULL, NULL, NULL, '', '', '', '[]', true, NULL, NULL, 1, ${at}, ${at}),
    (4, 'dora', NULL, NULL, NULL, 'Dora', 'secret', 'secret', '[]', true, ${at}, NULL, NULL, ${at}, ${at}),
    (5, 'erik', NULL, NULL, NULL, '', '', '', '[]', false, NULL, NULL, NULL, ${at}, ${at}),
    (6, 'rita', 'remote.example', 'https://remote.example/u/rita', 'https://remote.example/@rita', '', '', '', '[]', false, NULL,
      NULL, NULL, ${at}, ${at})`
  yield* sql`INSERT INTO users (account_id, email, password_hash, role_id, confirmed_at, default_visibility, default_language, created_at)
    SELECT id, id || '@local.example', '', CASE id WHEN 1 THEN 3 ELSE -99 END,
      CASE WHEN id = 5 THEN NULL ELSE ${at}::timestamptz END, CASE id WHEN 1 THEN 'unlisted' END,
      CASE id WHEN 1 THEN 'de' END, ${at}
    FROM accounts WHERE domain IS NULL`
  yield* sql`INSERT INTO account_stats (account_id, followers_count, statuses_count, last_status_at)
    SELECT id, 3, 2, ${at} FROM accounts`
  yield* changed
})

layer(server(), { excludeTestServices: true })("accounts", (it) => {
  it.effect("S-046, S-134: shows an account by id, name and address, complete and strictly in the documented form", () =>
    Effect.gen(function*() {
      yield* settle
      const shown = yield* get("/api/v1/accounts/1")
      const anna = yield* decode(Account)(shown.body)
      assert.strictEqual(anna.url, "https://local.example/@anna")
      assert.strictEqual(anna.uri, "https://local.example/users/anna")
      assert.strictEqual(anna.created_at, "2026-06-01T00:00:00.000Z")
      assert.strictEqual(anna.last_status_at, "2026-06-01")
      assert.deepStrictEqual(anna.roles?.map(({ name }) => name), ["Owner"])
      assert.deepStrictEqual(anna.fields, [{
        name: "site",
        value: "<b>x</b>",
        verified_at: "2026-01-01T00:00:00.000Z"
      }])
      assert.strictEqual((yield* get("/api/v1/accounts/2")).body.limited, true)
      const cleo = yield* decode(Account)((yield* get("/api/v1/accounts/3")).body)
      assert.strictEqual(cleo.moved?.acct, "anna")
      assert.notProperty(anna, "moved")
      const rita = yield* decode(Account)((yield* get("/api/v1/accounts/6")).body)
      assert.strictEqual(rita.acct, "rita@remote.example")
      assert.notProperty(rita, "roles")
      for (const acct of ["anna", "@ANNA", "anna@local.example", "@anna@LOCAL.example"]) {
        assert.strictEqual((yield* get(`/api/v1/accounts/lookup?acct=${acct}`)).text, shown.text)
      }
      assert.strictEqual((yield* get("/api/v1/accounts/lookup?acct=rita@remote.example")).body.id, "6")
      for (const acct of ["nobody", "rita", "anna@remote.example", "a@b@c", "%00", "erik"]) {
        assert.oneOf((yield* get(`/api/v1/accounts/lookup?acct=${acct}`)).status, [400, 404], acct)
      }
      assert.strictEqual((yield* get("/api/v1/accounts/lookup")).status, 400)
      for (const id of ["5", "77", "abc", "99999999999999999999"]) {
        const missing = yield* get(`/api/v1/accounts/${id}`)
        assert.deepStrictEqual([missing.status, missing.body], [404, { error: "Record not found" }], id)
      }
    }))

  it.effect("S-045, S-272: a suspended account is not found by id, and is blank where it is embedded", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      yield* settle
      for (const path of ["/api/v1/accounts/4", "/api/v1/accounts/lookup?acct=dora"]) {
        const gone = yield* get(path)
        assert.deepStrictEqual([gone.status, gone.body], [410, { error: "Gone" }])
      }
      assert.deepStrictEqual(yield* ids("/api/v1/accounts?id[]=4&id[]=1&id[]=1&id[]=5&id[]=77&id[]=2"), ["1", "2"])
      const relationships = yield* get("/api/v1/accounts/relationships?id[]=4", yield* issueToken(1n))
      assert.deepStrictEqual(relationships.body, [])
      yield* sql`UPDATE accounts SET moved_to_id = 4 WHERE id = 2`
      yield* changed
      const { body } = yield* get("/api/v1/accounts/2")
      const dora = yield* decode(Account)(body.moved)
      assert.strictEqual(dora.suspended, true)
      assert.notInclude(JSON.stringify(body), "secret")
      assert.deepStrictEqual([dora.display_name, dora.locked, dora.fields, dora.discoverable], ["", false, [], false])
      const people = `/api/v1/accounts?${Array.from({ length: 41 }, (_, index) => `id[]=${index}`).join("&")}`
      assert.strictEqual((yield* get(people)).status, 422)
    }))

  it.effect("S-043, S-044, S-137: the user's own account has its source, role and requests", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      yield* settle
      yield* sql`INSERT INTO follow_requests (id, account_id, target_account_id, created_at)
        VALUES (1, 2, 1, ${at}), (2, 3, 1, ${at}), (3, 4, 1, ${at})`
      const own = yield* decode(CredentialAccount)(
        (yield* get("/api/v1/accounts/verify_credentials", yield* issueToken(1n))).body
      )
      assert.strictEqual(own.source.note, "I write")
      assert.deepStrictEqual(own.source.fields.map(({ value }) => value), ["x"])
      assert.deepStrictEqual([own.source.privacy, own.source.language, own.source.sensitive], ["unlisted", "de", false])
      assert.deepStrictEqual([own.follow_requests_count, own.source.follow_requests_count], [2, 2])
      assert.deepStrictEqual([own.role.name, own.role.permissions], ["Owner", "8388607"])
      const plain = (yield* get("/api/v1/accounts/verify_credentials", yield* issueToken(2n))).body
      assert.deepStrictEqual([plain.role.id, plain.role.permissions, plain.source.privacy], ["-99", "65536", "public"])
      assert.strictEqual(
        (yield* get("/api/v1/accounts/verify_credentials", yield* issueToken(1n, ["profile"]))).status,
        200
      )
      assert.strictEqual(
        (yield* get("/api/v1/accounts/verify_credentials", yield* issueToken(1n, ["write"]))).status,
        403
      )
      assert.strictEqual((yield* get("/api/v1/accounts/verify_credentials")).status, 401)
    }))

  it.effect("S-047 to S-053, S-096: relationships are returned once for each known account", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      yield* settle
      const bearer = yield* issueToken(1n)
      const path = "/api/v1/accounts/relationships?id[]=2&id[]=3&id[]=2&id[]=4&id[]=6&id[]=77&id[]=abc&id[]=5"
      const none = (yield* get(path, bearer)).body
      assert.deepStrictEqual(none.map(({ id }: { readonly id: string }) => id), ["2", "3", "6"])
      yield* Effect.forEach(none, decode(Relationship))
      assert.isTrue(
        Object.values(none[0]).every((value) => value === false || value === null || value === "" || value === "2")
      )

      yield* sql`INSERT INTO follows (id, account_id, target_account_id, show_reblogs, notify, languages, created_at)
        VALUES (1, 1, 2, false, true, '{de}', ${at}), (2, 3, 1, true, false, NULL, ${at})`
      yield* sql`INSERT INTO follow_requests (id, account_id, target_account_id, created_at) VALUES (1, 1, 3, ${at}), (2, 2, 1, ${at})`
      yield* sql`INSERT INTO mutes (id, account_id, target_account_id, hide_notifications, expires_at)
        VALUES (1, 1, 2, false, '2100-01-01'), (2, 1, 3, true, '2000-01-01')`
      yield* sql`INSERT INTO blocks (id, account_id, target_account_id) VALUES (1, 1, 6), (2, 2, 1)`
      yield* sql`INSERT INTO domain_mutes (id, account_id, domain) VALUES (1, 1, 'remote.example')`
      yield* sql`INSERT INTO endorsements (id, account_id, target_account_id) VALUES (1, 1, 2)`
      const [ben, cleo, rita] = (yield* get(path, bearer)).body
      assert.deepInclude(ben, {
        following: true,
        showing_reblogs: false,
        notifying: true,
        languages: ["de"],
        muting: true,
        muting_notifications: false,
        muting_expires_at: "2100-01-01T00:00:00.000Z",
        blocked_by: true,
        requested_by: true,
        endorsed: true
      })
      assert.deepInclude(cleo, {
        following: false,
        requested: true,
        showing_reblogs: true,
        followed_by: true,
        muting: false
      })
      assert.deepInclude(rita, { blocking: true, domain_blocking: true })
      const dora = yield* get("/api/v1/accounts/relationships?id[]=4&with_suspended=1", bearer)
      assert.strictEqual(dora.body.length, 1)

      const noted = yield* postJson("/api/v1/accounts/2/note", bearer, { comment: "met in Prague" })
      assert.strictEqual((yield* decode(Relationship)(noted.body)).note, "met in Prague")
      assert.strictEqual((yield* postJson("/api/v1/accounts/2/note", bearer, { comment: " " })).body.note, "")
      assert.strictEqual(
        (yield* postJson("/api/v1/accounts/2/note", bearer, { comment: "x".repeat(2001) })).status,
        422
      )
      assert.strictEqual((yield* postJson("/api/v1/accounts/77/note", bearer, { comment: "x" })).status, 404)
    }))

  it.effect("row 60: followers are listed by their follows' ids, and only to their owner if the account hides them", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      yield* settle
      yield* sql`INSERT INTO follows (id, account_id, target_account_id, created_at)
        VALUES (10, 2, 1, ${at}), (11, 3, 1, ${at}), (12, 4, 1, ${at}), (13, 6, 1, ${at}), (14, 1, 2, ${at}), (15, 6, 2, ${at})`
      const [anna, cleo] = [yield* issueToken(1n), yield* issueToken(3n)]
      assert.deepStrictEqual(yield* ids("/api/v1/accounts/1/followers"), ["6", "3", "2"])
      const first = yield* get("/api/v1/accounts/1/followers?limit=2")
      assert.deepStrictEqual(links(first.headers), {
        next: "/api/v1/accounts/1/followers?limit=2&max_id=11",
        prev: "/api/v1/accounts/1/followers?limit=2&since_id=13"
      })
      const next = yield* get(links(first.headers).next ?? "")
      assert.deepStrictEqual(next.body.map(({ id }: { readonly id: string }) => id), ["2"])
      assert.deepStrictEqual(Object.keys(links(next.headers)), ["prev"])
      assert.deepStrictEqual(yield* ids("/api/v1/accounts/1/followers?since_id=11"), ["6"])
      assert.deepStrictEqual(yield* ids("/api/v1/accounts/2/following"), ["1"])
      assert.deepStrictEqual(yield* ids("/api/v1/accounts/4/followers"), [])

      const familiar = (yield* get("/api/v1/accounts/familiar_followers?id[]=2&id[]=1", yield* issueToken(2n))).body
      yield* Effect.forEach(familiar, decode(FamiliarFollowers))
      yield* sql`UPDATE accounts SET hide_collections = true WHERE id = 1`
      yield* changed
      for (const bearer of [undefined, cleo]) {
        assert.deepStrictEqual(yield* ids("/api/v1/accounts/1/followers", bearer), [])
        assert.deepStrictEqual(yield* ids("/api/v1/accounts/1/following", bearer), [])
      }
      assert.deepStrictEqual(yield* ids("/api/v1/accounts/1/followers", anna), ["6", "3", "2"])
      assert.strictEqual((yield* get("/api/v1/accounts/1")).body.hide_collections, true)
      yield* sql`UPDATE accounts SET hide_collections = false WHERE id = 1`
      yield* sql`INSERT INTO blocks (id, account_id, target_account_id) VALUES (1, 1, 3)`
      assert.deepStrictEqual(yield* ids("/api/v1/accounts/1/followers", cleo), [])
      const empties = ["featured_tags", "endorsements", "lists", "identity_proofs"]
      for (const name of empties) {
        assert.deepStrictEqual((yield* get(`/api/v1/accounts/2/${name}`, anna)).body, [], name)
      }
      assert.strictEqual((yield* get("/api/v1/accounts/77/lists", anna)).status, 404)
    }))
})
