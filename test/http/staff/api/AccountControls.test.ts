import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { AdminWarningPreset } from "../../../../src/http/staff/wire/WarningPreset.ts"
import { ask, idsOf, newPerson } from "../../../support/Api.ts"
import { eventually } from "../../../support/Eventually.ts"
import { migrationNamed } from "../../../support/MigrationFiles.ts"
import { remotePost } from "../../../support/RemotePosts.ts"
import { TestServer } from "../../../support/Server.ts"
import { auditEntries, staffMember } from "../../../support/Staff.ts"

const presets = "/api/v1/admin/warning_presets"
const accounts = "/api/v1/admin/accounts"

layer(TestServer.layer(), { excludeTestServices: true })("staff actions on users", (it) => {
  it.effect("presets are written, and precede the moderator's text", () =>
    Effect.gen(function*() {
      const by = yield* staffMember("writer", ["manageSettings", "manageUsers"])
      const anna = yield* newPerson("anna")
      const { body: preset } = yield* ask(by, "POST", presets, { title: "Tone", text: "Be kind." })
      yield* Schema.decodeUnknownEffect(AdminWarningPreset)(preset, { onExcessProperty: "error" })
      for (const given of [{}, { text: " " }, { text: "x", title: "x".repeat(101) }, { text: "x".repeat(100_000) }]) {
        assert.strictEqual((yield* ask(by, "POST", presets, given)).status, 422, JSON.stringify(given).slice(0, 40))
      }
      const act = (more: object) => ask(by, "POST", `${accounts}/${anna.accountId}/action`, { type: "none", ...more })
      assert.strictEqual((yield* act({ warning_preset_id: preset.id, text: "This once." })).status, 200)
      assert.strictEqual((yield* act({ warning_preset_id: "1" })).status, 404)
      const { body: [told] } = yield* ask(anna, "GET", "/api/v1/notifications")
      assert.strictEqual(told.moderation_warning.text, "Be kind.\n\nThis once.")
      assert.strictEqual((yield* ask(by, "PATCH", `${presets}/${preset.id}`, { title: "" })).body.title, "")
      assert.deepStrictEqual(yield* idsOf(by, presets), [preset.id])
      assert.deepStrictEqual((yield* ask(by, "DELETE", `${presets}/${preset.id}`)).body, {})
      assert.deepStrictEqual((yield* auditEntries(by.accountId)).map(({ act }) => act), [
        "warning_preset destroy",
        "warning_preset update",
        "account warn",
        "warning_preset create"
      ])
    }))

  it.effect("address, role and memorial state are changed only by permitted staff, of lower users", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const by = yield* staffMember("carer", ["manageUsers", "manageRoles", "deleteUserData"])
      const equal = yield* staffMember("equal", [])
      const lower = yield* staffMember("lower", [], 10)
      const ben = yield* newPerson("ben")
      const of = (who: { readonly accountId: bigint }, what: string) => `${accounts}/${who.accountId}/${what}`
      const { body: changed } = yield* ask(by, "POST", of(ben, "change_email"), { email: "new@mail.example" })
      assert.notStrictEqual(changed.email, "new@mail.example")
      const [waiting] = yield* sql`SELECT unconfirmed_email FROM users WHERE account_id = ${ben.accountId}`
      assert.deepStrictEqual(waiting, { unconfirmedEmail: "new@mail.example" })
      assert.strictEqual((yield* ask(by, "POST", of(ben, "resend_confirmation"))).status, 200)
      assert.strictEqual((yield* ask(by, "POST", of(lower, "resend_confirmation"))).status, 403)
      assert.strictEqual((yield* ask(by, "POST", of(ben, "change_email"), { email: "none" })).status, 422)
      const { body: risen } = yield* ask(by, "POST", of(ben, "role"), { role_id: String(lower.roleId) })
      assert.strictEqual(risen.role.id, String(lower.roleId))
      assert.strictEqual((yield* ask(by, "POST", of(ben, "role"), { role_id: String(equal.roleId) })).status, 403)
      assert.strictEqual((yield* ask(by, "POST", of(equal, "role"), { role_id: "-99" })).status, 403)
      assert.strictEqual((yield* ask(by, "POST", of(ben, "role"), {})).status, 404)
      assert.strictEqual((yield* ask(by, "POST", of(ben, "role"), { role_id: "-99" })).body.role.name, "")
      assert.strictEqual((yield* ask(by, "POST", of(ben, "memorialize"))).status, 200)
      assert.strictEqual((yield* ask(by, "POST", of(ben, "memorialize"))).status, 403)
      assert.strictEqual((yield* ask(by, "GET", `/api/v1/accounts/${ben.accountId}`)).body.memorial, true)
      assert.strictEqual((yield* ask(ben, "GET", "/api/v1/timelines/home")).status, 403)
      assert.strictEqual((yield* ask(by, "POST", `${accounts}/1/memorialize`)).status, 404)
      assert.deepStrictEqual((yield* auditEntries(by.accountId)).map(({ act }) => act), [
        "account memorialize",
        "account memorialize",
        "account change_role",
        "account change_role",
        "account resend",
        "account change_email"
      ])
    }))

  it.effect("accounts created by a user's invite are shown, and found by it", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const by = yield* staffMember("lister", ["manageUsers"])
      const [host, guest] = [yield* newPerson("host"), yield* newPerson("guest")]
      yield* sql`WITH made AS (INSERT INTO invites (id, code, account_id, created_at)
          VALUES (next_id(0), 'ABCD2345', ${host.accountId}, ${new Date(0)}) RETURNING id)
        UPDATE users SET invite_id = made.id FROM made WHERE account_id = ${guest.accountId}`
      const { body: [found, ...rest] } = yield* ask(by, "GET", `/api/v2/admin/accounts?invited_by=${host.accountId}`)
      assert.deepStrictEqual([found.username, found.invited_by_account_id, rest], ["guest", String(host.accountId), []])
      assert.deepStrictEqual((yield* ask(by, "GET", "/api/v2/admin/accounts?invited_by=nobody")).body, [])
    }))

  it.effect("S-277: data of a suspended account is deleted after 30 days, unless the suspension is lifted", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const by = yield* staffMember("judge", ["manageUsers"])
      const [cleo, dora] = [yield* newPerson("cleo"), yield* newPerson("dora")]
      const far = yield* remotePost([])
      yield* sql`INSERT INTO actors (account_id) VALUES (${far.accountId}) ON CONFLICT DO NOTHING`
      yield* sql`INSERT INTO remote_actors (account_id, type, inbox_url, fetched_at)
        VALUES (${far.accountId}, 'Person', 'https://else.test/inbox', ${new Date()}) ON CONFLICT DO NOTHING`
      yield* ask(cleo, "POST", "/api/v1/statuses", { status: "mine" })
      for (const id of [cleo.accountId, dora.accountId, far.accountId]) {
        const { status } = yield* ask(by, "POST", `${accounts}/${id}/action`, { type: "suspend" })
        assert.strictEqual(status, 200)
      }
      const due = sql<{ days: number }>`SELECT round(extract(epoch FROM g.due_at - a.suspended_at) / 86400)::int AS days
        FROM agenda g JOIN accounts a ON a.id = g.account_id WHERE g.kind = 'suspension_end'`
      assert.deepStrictEqual(yield* due, [{ days: 30 }, { days: 30 }, { days: 30 }])
      yield* ask(by, "POST", `${accounts}/${dora.accountId}/unsuspend`)
      assert.strictEqual((yield* due).length, 2)
      // The migration gives earlier suspensions a future end; suspensions by domain rules get none.
      yield* sql`DELETE FROM agenda WHERE kind = 'suspension_end'`
      yield* sql`UPDATE accounts SET suspended_at = suspended_at - interval '400 days' WHERE id = ${cleo.accountId}`
      yield* sql`UPDATE accounts SET suspended_at = ${new Date()}, suspended_by_domain = true WHERE id = ${dora.accountId}`
      const suspensionEnds = yield* migrationNamed("suspension_ends")
      yield* suspensionEnds
      yield* suspensionEnds
      assert.deepStrictEqual((yield* due).map(({ days }) => days).toSorted((one, two) => one - two), [30, 407])
      yield* sql`UPDATE accounts SET suspended_at = NULL, suspended_by_domain = false WHERE id = ${dora.accountId}`
      yield* sql`UPDATE agenda SET due_at = ${new Date(0)} WHERE kind = 'suspension_end'`
      const left = (id: bigint) =>
        sql<{ statuses: number; suspended: boolean }>`SELECT (SELECT count(*)::int FROM statuses s
          WHERE s.account_id = a.id AND deleted_at IS NULL) AS statuses, suspended_at IS NOT NULL AS suspended
        FROM accounts a WHERE id = ${id}`
      yield* eventually(left(cleo.accountId), ([row]) => row?.statuses === 0)
      yield* eventually(left(far.accountId), ([row]) => row?.statuses === 0)
      assert.deepStrictEqual(yield* sql`SELECT FROM users WHERE account_id = ${cleo.accountId}`, [])
      // The remote account stays known and suspended, and does not return as a new one.
      yield* eventually(
        sql<{ count: number }>`SELECT count(*)::int AS count FROM agenda WHERE kind IN ('purge', 'suspension_end')`,
        ([row]) => row?.count === 0
      )
      assert.deepStrictEqual(yield* left(far.accountId), [{ statuses: 0, suspended: true }])
      assert.strictEqual((yield* sql`SELECT FROM users WHERE account_id = ${dora.accountId}`).length, 1)
    }))
})
