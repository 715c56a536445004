import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { AdminAccount } from "../../../../src/http/staff/wire/AdminAccount.ts"
import { ask, idsOf, newPerson } from "../../../support/Api.ts"
import { links } from "../../../support/Requests.ts"
import { type Person, TestServer } from "../../../support/Server.ts"
import { staffMember } from "../../../support/Staff.ts"

const v1 = "/api/v1/admin/accounts"
const v2 = "/api/v2/admin/accounts"

/** Creates accounts in each state that moderators can filter by. */
const people = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const at = new Date()
  const createMember = Effect.fnUntraced(
    function*(name: string, change?: (id: bigint) => Effect.Effect<unknown, unknown>) {
      const person = yield* newPerson(name)
      if (change !== undefined) yield* Effect.orDie(change(person.accountId))
      return String(person.accountId)
    }
  )
  const plain = yield* createMember("plain")
  const pending = yield* createMember(
    "pending",
    (id) => sql`UPDATE users SET approved = false WHERE account_id = ${id}`
  )
  const disabled = yield* createMember(
    "disabled",
    (id) => sql`UPDATE users SET disabled = true WHERE account_id = ${id}`
  )
  const sensitized = yield* createMember(
    "sensitized",
    (id) => sql`UPDATE accounts SET sensitized_at = ${at} WHERE id = ${id}`
  )
  const silenced = yield* createMember(
    "silenced",
    (id) => sql`UPDATE accounts SET silenced_at = ${at} WHERE id = ${id}`
  )
  const suspended = yield* createMember(
    "suspended",
    (id) => sql`UPDATE accounts SET suspended_at = ${at} WHERE id = ${id}`
  )
  const far = yield* createMember("far", (id) =>
    sql`DELETE FROM users WHERE account_id = ${id}`.pipe(
      Effect.andThen(sql`UPDATE accounts SET domain = 'Far.example', uri = 'https://far.example/u/far',
        url = 'https://far.example/@far', display_name = 'Over 100% far' WHERE id = ${id}`)
    ))
  yield* sql`INSERT INTO sessions (id_hash, account_id, ip, created_at, seen_at)
    SELECT '\\x01', id, '192.0.2.7', ${at}, ${at} FROM accounts WHERE username = 'plain'`
  return { plain, pending, disabled, sensitized, silenced, suspended, far }
})

layer(TestServer.layer(), { excludeTestServices: true })("accounts for moderators", (it) => {
  it.effect("S-120 S-166 S-167: are listed by all filters of both versions, newest first", () =>
    Effect.gen(function*() {
      const moderator = yield* staffMember("lister", ["manageUsers"])
      const all = yield* people
      const { disabled, far, pending, plain, sensitized, silenced, suspended } = all
      const self = String(moderator.accountId)
      const local = [suspended, silenced, sensitized, disabled, pending, plain, self]
      const active = local.filter((id) => id !== suspended)
      const cases: ReadonlyArray<readonly [string, ReadonlyArray<string>]> = [
        [v1, active],
        [`${v1}?local=true&active=true`, active],
        [`${v1}?silenced=false`, active],
        [`${v1}?silenced=0&suspended=f`, active],
        [`${v1}?silenced=true`, [silenced]],
        [`${v1}?active=true&suspended=true&silenced=1`, [suspended]],
        [`${v1}?pending=true`, [pending]],
        [`${v1}?disabled=true`, [disabled]],
        [`${v1}?sensitized=true`, [sensitized]],
        [`${v1}?remote=true`, [far]],
        [`${v1}?by_domain=FAR.example`, [far]],
        [`${v1}?staff=true`, [self]],
        [`${v1}?username=PLA`, [plain]],
        [`${v1}?email=plain@`, [plain]],
        [`${v1}?ip=192.0.2.7`, [plain]],
        [`${v1}?ip=192.0.2.0/24`, [plain]],
        [`${v1}?ip=nonsense`, []],
        [v2, [far, ...local]],
        [`${v2}?origin=remote`, [far]],
        [`${v2}?origin=local&status=suspended`, [suspended]],
        [`${v2}?status=active&origin=local`, active],
        [`${v2}?permissions=staff`, [self]],
        [`${v2}?role_ids[]=${moderator.roleId}&role_ids[]=1`, [self]],
        [`${v2}?display_name=over%20100%25`, [far]],
        [`${v2}?display_name=over%20_00`, []],
        [`${v2}?username=${"%"}`, []]
      ]
      for (const [path, expected] of cases) assert.deepStrictEqual(yield* idsOf(moderator, path), expected, path)
      for (const [name, value] of [["origin", "mars"], ["status", "gone"], ["permissions", "all"]]) {
        const { body, status } = yield* ask(moderator, "GET", `${v2}?${name}=${value}`)
        assert.deepStrictEqual([status, body], [400, { error: `Unknown ${name}: ${value}` }])
      }
      // In pages, whose links keep the filters.
      const first = yield* ask(moderator, "GET", `${v2}?origin=local&limit=3`)
      assert.deepStrictEqual(first.body.map(({ id }: { id: string }) => id), local.slice(0, 3))
      const { next = "", prev = "" } = links(first.headers)
      assert.deepStrictEqual(yield* idsOf(moderator, next), local.slice(3, 6))
      assert.include(next, "origin=local")
      assert.deepStrictEqual(yield* idsOf(moderator, prev), [])
      // Each with the fields for moderators.
      const { body } = yield* ask(moderator, "GET", v2)
      yield* Schema.decodeUnknownEffect(Schema.Array(AdminAccount))(body, { onExcessProperty: "error" })
      const { body: one } = yield* ask(moderator, "GET", `${v1}/${plain}`)
      assert.deepInclude(one, {
        id: plain,
        username: "plain",
        domain: null,
        email: "plain@example.org",
        ip: "192.0.2.7",
        locale: null,
        invite_request: null,
        confirmed: true,
        approved: true,
        disabled: false,
        silenced: false,
        suspended: false,
        sensitized: false
      })
      assert.deepInclude(one.role, { id: "-99", name: "", permissions: "65536" })
      const { body: elsewhere } = yield* ask(moderator, "GET", `${v1}/${far}`)
      assert.deepInclude(elsewhere, {
        domain: "Far.example",
        email: null,
        ip: null,
        ips: [],
        role: null,
        confirmed: null,
        approved: null,
        disabled: null
      })
      for (const id of ["900000000000000001", "x"]) {
        assert.strictEqual((yield* ask(moderator, "GET", `${v1}/${id}`)).status, 404)
      }
    }))

  it.effect("S-166: 100,000 accounts are listed fast, with any filter", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const moderator = yield* staffMember("fast", ["manageUsers"])
      yield* sql`INSERT INTO accounts (id, username, domain, created_at, updated_at, silenced_at)
        SELECT i, 'many' || i, CASE WHEN i % 2 = 0 THEN 'many.example' END, '2020-01-01', '2020-01-01',
          CASE WHEN i % 1000 = 0 THEN '2020-01-02'::timestamptz END FROM generate_series(1, 100000) i`
      yield* sql`INSERT INTO users (account_id, email, password_hash, confirmed_at, approved, created_at)
        SELECT id, username || '@many.example', '', created_at, id % 777 <> 0, created_at FROM accounts
        WHERE domain IS NULL AND id <= 100000`
      yield* sql`ANALYZE accounts, users, sessions`
      const timed = Effect.fnUntraced(function*(by: Person, path: string) {
        yield* ask(by, "GET", path)
        const began = performance.now()
        assert.strictEqual((yield* ask(by, "GET", path)).status, 200, path)
        return performance.now() - began
      })
      for (
        const query of [
          "origin=local&limit=40",
          "origin=remote&limit=40",
          "status=pending&limit=40",
          "status=silenced&limit=40",
          "permissions=staff",
          "username=many9999",
          "email=many8",
          "by_domain=many.example&limit=40",
          "ip=192.0.2.7",
          "display_name=zzz",
          "origin=local&status=disabled",
          "role_ids[]=1"
        ]
      ) {
        assert.isBelow(yield* timed(moderator, `${v2}?${query}`), 250, query)
      }
    }))
})
