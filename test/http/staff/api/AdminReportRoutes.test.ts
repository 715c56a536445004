import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { AdminReport } from "../../../../src/http/staff/wire/AdminReport.ts"
import { ask, idsOf, newPerson } from "../../../support/Api.ts"
import { eventually } from "../../../support/Eventually.ts"
import { type Person, TestServer } from "../../../support/Server.ts"
import { auditEntries, staffMember } from "../../../support/Staff.ts"

const path = "/api/v1/admin/reports"
const strict = { onExcessProperty: "error" } as const

const report = Effect.fnUntraced(function*(by: Person, about: Person, more: object = {}) {
  const given = { account_id: String(about.accountId), comment: "Look", ...more }
  const { body } = yield* ask(by, "POST", "/api/v1/reports", given)
  return String(body.id)
})

layer(TestServer.layer(), { excludeTestServices: true })("reports for moderators", (it) => {
  it.effect("S-234 S-066: are listed by their filters and shown with everything that they name", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const moderator = yield* staffMember("reader1", ["manageReports"])
      const [bad, other, witness] = [yield* newPerson("bad1"), yield* newPerson("other1"), yield* newPerson("witness1")]
      yield* ask(witness, "POST", `/api/v1/accounts/${bad.accountId}/follow`)
      yield* sql`INSERT INTO rules (id, text, hint, priority, translations) VALUES (5, 'Be kind', '', 1, '{}')`
      const posts = []
      for (const visibility of ["public", "private", "public"]) {
        const { body } = yield* ask(bad, "POST", "/api/v1/statuses", { status: `A ${visibility} post`, visibility })
        posts.push(String(body.id))
      }
      const first = yield* report(witness, bad, { status_ids: posts, rule_ids: ["5"] })
      const second = yield* report(witness, other, { category: "spam" })
      const third = yield* report(other, bad)
      yield* ask(bad, "DELETE", `/api/v1/statuses/${posts[2]}`)
      yield* ask(moderator, "POST", `${path}/${second}/resolve`)
      const cases: ReadonlyArray<readonly [string, ReadonlyArray<string>]> = [
        ["", [third, first]],
        ["?resolved=false", [third, first]],
        ["?resolved=true", [second]],
        ["?resolved=1&unresolved=1", [third, second, first]],
        [`?account_id=${witness.accountId}`, [first]],
        [`?target_account_id=${bad.accountId}`, [third, first]],
        [`?target_account_id=${other.accountId}`, []],
        ["?by_target_domain=far.example", []],
        ["?limit=1", [third]],
        [`?max_id=${third}`, [first]]
      ]
      for (const [query, expected] of cases) {
        assert.deepStrictEqual(yield* idsOf(moderator, path + query), expected, query)
      }
      const { body } = yield* ask(moderator, "GET", `${path}/${first}`)
      yield* Schema.decodeUnknownEffect(AdminReport)(body, strict)
      assert.deepInclude(body, {
        id: first,
        action_taken: false,
        category: "violation",
        comment: "Look",
        forwarded: false
      })
      // Deleted posts, and posts otherwise unreadable for the moderator, are shown while the report is open.
      assert.deepStrictEqual(
        body.statuses.map(({ id }: { id: string }) => id),
        posts
      )
      assert.deepStrictEqual(body.rules.map(({ text }: { text: string }) => text), ["Be kind"])
      assert.deepInclude(body.target_account, { id: String(bad.accountId), email: "bad1@example.org" })
      assert.strictEqual(body.account.id, String(witness.accountId))
      assert.deepStrictEqual([body.assigned_account, body.action_taken_by_account], [null, null])
      assert.strictEqual((yield* ask(moderator, "GET", `${path}/900000000000000001`)).status, 404)
      // On other routes they stay unreadable for the moderator.
      assert.strictEqual((yield* ask(moderator, "GET", `/api/v1/statuses/${posts[1]}`)).status, 404)
    }))

  it.effect("S-234: are assigned, changed, resolved and reopened, all with audit log entries", () =>
    Effect.gen(function*() {
      const moderator = yield* staffMember("worker2", ["manageReports"])
      const [bad, witness] = [yield* newPerson("bad2"), yield* newPerson("witness2")]
      const id = yield* report(witness, bad)
      const actOnReport = (action: string) =>
        Effect.map(ask(moderator, "POST", `${path}/${id}/${action}`), ({ body }) => body)
      assert.strictEqual((yield* actOnReport("assign_to_self")).assigned_account.id, String(moderator.accountId))
      assert.isNull((yield* actOnReport("unassign")).assigned_account)
      const changed = yield* ask(moderator, "PUT", `${path}/${id}`, { category: "spam" })
      assert.strictEqual(changed.body.category, "spam")
      const refusals: ReadonlyArray<readonly [object, string]> = [
        [{ category: "worst" }, "Category is not included in the list"],
        [{ category: "spam", rule_ids: ["900000000000000001"] }, "Rule ids must be blank"],
        [{ category: "violation", rule_ids: ["900000000000000001"] }, "Rule ids does not reference valid rules"]
      ]
      for (const [given, text] of refusals) {
        const { body, status } = yield* ask(moderator, "PUT", `${path}/${id}`, given)
        assert.deepStrictEqual([status, body.error], [422, `Validation failed: ${text}`], JSON.stringify(given))
      }
      const resolved = yield* actOnReport("resolve")
      assert.isTrue(resolved.action_taken)
      assert.isString(resolved.action_taken_at)
      assert.strictEqual(resolved.action_taken_by_account.id, String(moderator.accountId))
      const reopened = yield* actOnReport("reopen")
      assert.deepInclude(reopened, { action_taken: false, action_taken_at: null, action_taken_by_account: null })
      yield* actOnReport("reopen")
      const acts = (yield* auditEntries(moderator.accountId)).map(({ act, targetLabel }) => [act, targetLabel])
      assert.deepStrictEqual(
        acts,
        ["reopen", "resolve", "update", "unassign", "assign"].map((action) => [`report ${action}`, `#${id}`])
      )
    }))

  it.effect("S-234: of two moderators at one report the first one succeeds, and the second is notified", () =>
    Effect.gen(function*() {
      const [one, two] = [
        yield* staffMember("one3", ["manageReports", "manageUsers"]),
        yield* staffMember("two3", ["manageReports", "manageUsers"])
      ]
      const [bad, witness] = [yield* newPerson("bad3"), yield* newPerson("witness3")]
      for (const action of ["assign_to_self", "resolve"]) {
        const id = yield* report(witness, bad)
        const responses = yield* Effect.all(
          [one, two].map((by) => ask(by, "POST", `${path}/${id}/${action}`)),
          { concurrency: "unbounded" }
        )
        assert.deepStrictEqual(responses.map(({ status }) => status).toSorted(), [200, 422], action)
        const { body } = yield* ask(one, "GET", `${path}/${id}`)
        const winner = responses[0]?.status === 200 ? one : two
        const by = action === "resolve" ? body.action_taken_by_account : body.assigned_account
        assert.strictEqual(by.id, String(winner.accountId))
        // The log has both sides.
        const [refused] = yield* auditEntries((winner === one ? two : one).accountId)
        assert.deepStrictEqual([refused?.act, refused?.targetLabel, Object.keys(refused?.after ?? {})], [
          `report ${action.replace("_to_self", "")}`,
          `#${id}`,
          ["refused"]
        ])
        yield* ask(winner, "POST", `${path}/${id}/resolve`)
      }
      // One acts on the account while the other resolves the report.
      const id = yield* report(witness, bad)
      const act = ask(one, "POST", `/api/v1/admin/accounts/${bad.accountId}/action`, { type: "silence", report_id: id })
      const [acted, resolved] = yield* Effect.all([act, ask(two, "POST", `${path}/${id}/resolve`)], {
        concurrency: "unbounded"
      })
      assert.deepStrictEqual([acted.status, resolved.status].toSorted(), [200, 422])
    }))

  it.effect("row 66: a former moderator cannot read reports, even with an earlier notification", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const moderator = yield* staffMember("former", ["manageReports"])
      const [bad, witness] = [yield* newPerson("bad9"), yield* newPerson("witness9")]
      yield* report(witness, bad, { comment: "He told me in confidence" })
      const told = ["/api/v1/notifications", "/api/v2/notifications"]
      const read = Effect.forEach(
        told,
        (path) => Effect.map(ask(moderator, "GET", path), ({ body }) => JSON.stringify(body).includes("in confidence"))
      )
      yield* eventually(read, (shown) => shown.every(Boolean))
      yield* sql`UPDATE users SET role_id = -99 WHERE account_id = ${moderator.accountId}`
      assert.deepStrictEqual(yield* read, [false, false])
    }))
})
