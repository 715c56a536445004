import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { ModerationNote } from "../../../../src/http/staff/wire/Notes.ts"
import { AdminAppeal } from "../../../../src/http/wire/Appeal.ts"
import { AccountWarning } from "../../../../src/http/wire/Notification.ts"
import { ask, idsOf, newPerson } from "../../../support/Api.ts"
import { type Person, TestServer } from "../../../support/Server.ts"
import { auditEntries, staffMember } from "../../../support/Staff.ts"

const strict = { onExcessProperty: "error" } as const
const notFound = [404, { error: "Record not found" }]

const refusal = Effect.fnUntraced(function*(by: Person, path: string, json: object) {
  const { body, status } = yield* ask(by, "POST", path, json)
  return [status, body.error]
})

const strike = Effect.fnUntraced(function*(by: Person, bad: Person, type: string) {
  yield* ask(by, "POST", `/api/v1/admin/accounts/${bad.accountId}/action`, { type, text: "Stop it" })
  const [newest = ""] = yield* idsOf(bad, "/api/v1/strikes")
  return newest
})

layer(TestServer.layer(), { excludeTestServices: true })("appeals", (it) => {
  it.effect("S-234, D-012: an appeal within 20 days undoes the strike, if staff grant it", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const moderator = yield* staffMember("moderator1", ["manageUsers"])
      const judge = yield* staffMember("judge1", ["manageAppeals"])
      const [bad, other] = [yield* newPerson("bad1"), yield* newPerson("other1")]
      const { body: instance } = yield* ask(undefined, "GET", "/api/v2/instance")
      assert.deepStrictEqual(instance.configuration.appeals, { max_days: 20, max_characters: 2_000 })
      const id = yield* strike(moderator, bad, "silence")
      const { body: shown } = yield* ask(bad, "GET", `/api/v1/strikes/${id}`)
      yield* Schema.decodeUnknownEffect(AccountWarning)(shown, strict)
      assert.deepInclude(shown, { id, action: "silence", text: "Stop it", appeal: null })
      const path = `/api/v1/strikes/${id}/appeal`
      assert.deepStrictEqual(yield* refusal(bad, path, {}), [422, "Validation failed: Text can't be blank"])
      assert.deepStrictEqual(yield* refusal(bad, path, { text: "x".repeat(2_001) }), [
        422,
        "Validation failed: Text is too long (maximum is 2000 characters)"
      ])
      for (const [method, to] of [["GET", `/api/v1/strikes/${id}`], ["POST", path]] as const) {
        const { body, status } = yield* ask(other, method, to, method === "POST" ? { text: "Me" } : undefined)
        assert.deepStrictEqual([status, body], notFound)
      }
      const both = yield* Effect.all(
        [1, 2].map(() => ask(bad, "POST", path, { text: "I did not" })),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(both.map(({ status }) => status).toSorted(), [200, 422])
      const [appeal = ""] = yield* idsOf(judge, "/api/v1/admin/appeals?state=pending")
      const { body: waiting } = yield* ask(judge, "GET", `/api/v1/admin/appeals/${appeal}`)
      yield* Schema.decodeUnknownEffect(AdminAppeal)(waiting, strict)
      assert.deepInclude(waiting, { id: appeal, state: "pending", text: "I did not" })
      // Two staff members decide concurrently.
      const decided = yield* Effect.all(
        ["approve", "reject"].map((word) => ask(judge, "POST", `/api/v1/admin/appeals/${appeal}/${word}`)),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(decided.map(({ status }) => status).toSorted(), [200, 422])
      const granted = decided[0]?.status === 200
      // The log has both.
      const logged = yield* sql<{ action: string; lost: boolean }>`SELECT action,
          coalesce(after ? 'refused', false) AS lost FROM audit_log WHERE target_type = 'appeal' ORDER BY lost`
      assert.deepStrictEqual(logged, [
        { action: granted ? "approve" : "reject", lost: false },
        { action: granted ? "reject" : "approve", lost: true }
      ])
      const { body: account } = yield* ask(moderator, "GET", `/api/v1/admin/accounts/${bad.accountId}`)
      assert.strictEqual(account.silenced, !granted)
      const { body: after } = yield* ask(bad, "GET", `/api/v1/strikes/${id}`)
      assert.deepStrictEqual(after.appeal, { text: "I did not", state: granted ? "approved" : "rejected" })
    }))

  it.effect("S-234: a granted appeal is undone and logged, a rejected strike stays; old strikes cannot be appealed", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const moderator = yield* staffMember("moderator2", ["manageUsers"])
      const judge = yield* staffMember("judge2", ["manageAppeals"])
      const bad = yield* newPerson("bad2")
      const cases = [["sensitive", "approve", false], ["silence", "reject", true]] as const
      for (const [type, word, inForce] of cases) {
        const id = yield* strike(moderator, bad, type)
        yield* ask(bad, "POST", `/api/v1/strikes/${id}/appeal`, { text: "Please" })
        const [appeal = ""] = yield* idsOf(judge, "/api/v1/admin/appeals?state=pending")
        assert.strictEqual((yield* ask(judge, "POST", `/api/v1/admin/appeals/${appeal}/${word}`)).status, 200)
        const { body } = yield* ask(moderator, "GET", `/api/v1/admin/accounts/${bad.accountId}`)
        assert.strictEqual(body[type === "sensitive" ? "sensitized" : "silenced"], inForce)
      }
      assert.deepStrictEqual((yield* auditEntries(judge.accountId)).map(({ act }) => act), [
        "appeal reject",
        "account unsensitive",
        "appeal approve"
      ])
      const old = yield* strike(moderator, bad, "none")
      yield* sql`UPDATE account_warnings SET created_at = created_at - interval '21 days' WHERE id = ${BigInt(old)}`
      assert.deepStrictEqual(yield* refusal(bad, `/api/v1/strikes/${old}/appeal`, { text: "Late" }), [
        422,
        "Validation failed: Strike is too old to appeal against"
      ])
    }))

  it.effect("S-234: moderators leave notes for one another about accounts and reports", () =>
    Effect.gen(function*() {
      const one = yield* staffMember("one3", ["manageUsers", "manageReports"], 20)
      const two = yield* staffMember("two3", ["manageUsers", "manageReports"], 30)
      const [bad, witness] = [yield* newPerson("bad3"), yield* newPerson("witness3")]
      const { body: report } = yield* ask(witness, "POST", "/api/v1/reports", { account_id: String(bad.accountId) })
      const targets = [["account", `/api/v1/admin/accounts/${bad.accountId}/notes`], [
        "report",
        `/api/v1/admin/reports/${report.id}/notes`
      ]] as const
      for (const [type, path] of targets) {
        const { body: note } = yield* ask(one, "POST", path, { content: "Known from before" })
        yield* Schema.decodeUnknownEffect(ModerationNote)(note, strict)
        assert.deepInclude(note, { content: "Known from before" })
        assert.deepInclude(note.target, { type })
        assert.strictEqual(note.author.acct, "one3")
        assert.deepStrictEqual((yield* ask(two, "GET", path)).body, [note])
        assert.deepStrictEqual((yield* ask(two, "GET", `${path}/${note.id}`)).body, note)
        assert.deepStrictEqual(yield* refusal(one, path, { content: " " }), [
          422,
          "Validation failed: Content can't be blank"
        ])
        const { body: higher } = yield* ask(two, "POST", path, { content: "x".repeat(2_000) })
        assert.strictEqual((yield* refusal(one, path, { content: "x".repeat(2_001) }))[0], 422)
        assert.strictEqual((yield* ask(one, "DELETE", `${path}/${higher.id}`)).status, 403)
        assert.strictEqual((yield* ask(two, "DELETE", `${path}/${note.id}`)).status, 200)
        assert.strictEqual((yield* ask(one, "GET", `${path}/${note.id}`)).status, 404)
        assert.strictEqual((yield* ask(one, "GET", path.replace(/\d+/, "900000000000000001"))).status, 404)
      }
      assert.deepStrictEqual((yield* auditEntries(one.accountId)).map(({ act }) => act), [
        "report_note create",
        "account_note create"
      ])
    }))
})
