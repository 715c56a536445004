import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { AdminReport } from "../../../src/http/staff/wire/AdminReport.ts"
import { Report } from "../../../src/http/wire/Report.ts"
import { Retention } from "../../../src/services/intents/Retention.ts"
import { call, newPerson, publishedId } from "../../support/Api.ts"
import { retention } from "../../support/Retention.ts"
import { type Person, TestServer } from "../../support/Server.ts"
import { staffMember } from "../../support/Staff.ts"

const report = (person: Person, json: Record<string, unknown>) => call("POST", "/api/v1/reports", person.token, json)

layer(TestServer.layer(), { excludeTestServices: true })("reports", (it) => {
  it.effect("S-095 S-163: an account is reported with statuses and rules, deleted statuses too", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      yield* sql`INSERT INTO rules (id, text) VALUES (1, 'Be kind')`
      const [ada, bob] = [yield* newPerson("ada"), yield* newPerson("bob")]
      const [shown, deleted] = [yield* publishedId(bob, "One"), yield* publishedId(bob, "Two")]
      yield* call("DELETE", `/api/v1/statuses/${deleted}`, bob.token)
      const { body, status } = yield* report(ada, {
        account_id: bob.accountId.toString(),
        status_ids: [shown, deleted],
        comment: "Look",
        category: "spam",
        forward: true
      })
      assert.strictEqual(status, 200, JSON.stringify(body))
      const filed = yield* Schema.decodeUnknownEffect(Report)(body)
      assert.deepInclude(filed, { category: "spam", comment: "Look", action_taken: false, forwarded: false })
      assert.deepStrictEqual([filed.status_ids, filed.rule_ids], [[shown, deleted], []])
      assert.strictEqual(filed.target_account.username, "bob")
      const violation = yield* report(ada, { account_id: bob.accountId.toString(), rule_ids: ["1"], category: "other" })
      assert.deepInclude(violation.body, { category: "violation", comment: "" })
    }))

  it.effect("S-095 row 56: collections of the account are reported, for moderators to see; others' are not found", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const [ada, bob, eve, mod] = [
        yield* newPerson("seer"),
        yield* newPerson("curator"),
        yield* newPerson("keeper"),
        yield* staffMember("desk", ["manageReports"])
      ]
      const createCollection = (by: Person, name: string) =>
        Effect.map(
          call("POST", "/api/v1/collections", by.token, { name, discoverable: false }),
          ({ body }) => body.collection.id as string
        )
      const [bad, gone, others] = [
        yield* createCollection(bob, "Rude"),
        yield* createCollection(bob, "Gone"),
        yield* createCollection(eve, "Kind")
      ]
      const account_id = bob.accountId.toString()
      const { body, status } = yield* report(ada, { account_id, collection_ids: [bad, gone, bad] })
      assert.strictEqual(status, 200, JSON.stringify(body))
      assert.deepStrictEqual(body.collection_ids, [bad, gone])
      yield* call("DELETE", `/api/v1/collections/${gone}`, bob.token)
      yield* sql`UPDATE accounts SET suspended_at = now() WHERE id = ${bob.accountId}`
      const shown = yield* call("GET", `/api/v1/admin/reports/${body.id}`, mod.token)
      assert.deepStrictEqual(
        shown.body.collections.map((one: { id: string; name: string }) => [one.id, one.name]),
        // Posts deleted since are visible only to staff (S-066).
        [[bad, "Rude"], [gone, "Gone"]]
      )
      const [unknown] = yield* Schema.decodeUnknownEffect(Schema.Array(AdminReport))([shown.body], {
        onExcessProperty: "error"
      })
      assert.isDefined(unknown)
      yield* sql`UPDATE accounts SET suspended_at = NULL WHERE id = ${bob.accountId}`
      yield* call("POST", `/api/v1/accounts/${eve.accountId}/block`, bob.token)
      const attempts: ReadonlyArray<readonly [Person, ReadonlyArray<string>, number]> = [
        [ada, [others], 404],
        [ada, [bad, "4711"], 404],
        [ada, [gone], 404],
        [eve, [bad], 404],
        [ada, Array.from({ length: 101 }, (_, n) => String(n + 1)), 422]
      ]
      for (const [by, collection_ids, expected] of attempts) {
        assert.strictEqual((yield* report(by, { account_id, collection_ids })).status, expected, String(collection_ids))
      }
      assert.lengthOf(yield* sql`SELECT id FROM reports WHERE target_account_id = ${bob.accountId}`, 1)
    }))

  it.effect("row 56, row 57: unreadable posts, others' posts and unknown accounts are not found", () =>
    Effect.gen(function*() {
      const [ada, bob, eve] = [yield* newPerson("reader"), yield* newPerson("writer"), yield* newPerson("third")]
      const [secret, gone, others] = [
        yield* publishedId(bob, "Hidden", { visibility: "private" }),
        yield* publishedId(bob, "Hidden and gone", { visibility: "private" }),
        yield* publishedId(eve, "Mine")
      ]
      yield* call("DELETE", `/api/v1/statuses/${gone}`, bob.token)
      const target = bob.accountId.toString()
      const attempts = [
        ...[secret, gone, others, "4711"].map((id) => ({ account_id: target, status_ids: [id] })),
        { account_id: "4711" }
      ]
      for (const attempt of attempts) {
        const { body, status } = yield* report(ada, attempt)
        assert.deepStrictEqual([status, body], [404, { error: "Record not found" }], JSON.stringify(attempt))
      }
      const sql = yield* SqlClient.SqlClient
      assert.deepStrictEqual(yield* sql`SELECT id FROM reports WHERE account_id = ${ada.accountId}`, [])
    }))

  it.effect("an invalid report is refused with a message", () =>
    Effect.gen(function*() {
      const [ada, bob] = [yield* newPerson("wordy"), yield* newPerson("target")]
      const account_id = bob.accountId.toString()
      const cases = [
        [{ comment: "x".repeat(1_001) }, "Comment is too long (maximum is 1000 characters)"],
        [{ rule_ids: ["4711"] }, "Rule ids does not reference valid rules"]
      ] as const
      for (const [more, text] of cases) {
        const { body, status } = yield* report(ada, { account_id, ...more })
        assert.deepStrictEqual([status, body.error], [422, `Validation failed: ${text}`])
      }
    }))

  it.effect("S-066: a deleted status stays while a report about it is open", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const [ada, bob] = [yield* newPerson("keeping"), yield* newPerson("deleting")]
      const [reported, other] = [yield* publishedId(bob, "Reported"), yield* publishedId(bob, "Not")]
      yield* report(ada, { account_id: bob.accountId.toString(), status_ids: [reported] })
      yield* sql`UPDATE statuses SET deleted_at = '2020-01-01' WHERE id IN (${BigInt(reported)}, ${BigInt(other)})`
      const sweep = Effect.flatMap(Retention, ({ sweep }) => sweep).pipe(Effect.provide(retention))
      const left = Effect.map(
        sql<{ id: bigint }>`SELECT id FROM statuses WHERE account_id = ${bob.accountId}`,
        (rows) => rows.map(({ id }) => String(id))
      )
      yield* sweep
      assert.deepStrictEqual(yield* left, [reported])
      yield* sql`UPDATE reports SET action_taken_at = '2020-01-02'`
      yield* sweep
      assert.deepStrictEqual(yield* left, [])
    }))
})

layer(TestServer.layer({ RATE_LIMITS: "on" }), { excludeTestServices: true })("reports with limits", (it) => {
  it.effect("S-296: 400 in a day, counted from committed rows", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const [ada, bob] = [yield* newPerson("busy"), yield* newPerson("bothered")]
      const account_id = bob.accountId.toString()
      const midnight = new Date(Math.floor(Date.now() / 86_400_000) * 86_400_000)
      yield* sql`INSERT INTO commands (account_id, id, answer, family, epoch, created_at)
        SELECT ${ada.accountId}, 'before:' || n, '{"id":"1","kind":"report"}', 'reports', 0, ${midnight}
        FROM generate_series(1, 399) n`
      const last = yield* report(ada, { account_id })
      assert.deepStrictEqual([last.status, last.headers.get("x-ratelimit-remaining")], [200, "0"])
      assert.strictEqual((yield* report(ada, { account_id })).status, 429)
    }))
})
