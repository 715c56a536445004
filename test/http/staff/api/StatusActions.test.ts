import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Retention } from "../../../../src/services/intents/Retention.ts"
import { ask, idsOf, newPerson, publishedId } from "../../../support/Api.ts"
import { retention } from "../../../support/Retention.ts"
import { type Person, TestServer } from "../../../support/Server.ts"
import { auditEntries, staffMember } from "../../../support/Staff.ts"

const path = "/api/v1/admin/status_actions"

const read = (by: Person, id: string) => ask(by, "GET", `/api/v1/statuses/${id}`)

layer(TestServer.layer(), { excludeTestServices: true })(
  "moderators' actions on posts",
  (it) => {
    it.effect("S-234 S-113: reported posts are deleted with a strike, which resolves the report", () =>
      Effect.gen(function*() {
        const moderator = yield* staffMember("moderator1", ["manageReports"])
        const [bad, witness] = [yield* newPerson("bad1"), yield* newPerson("witness1")]
        const [first, second, untouched] = [
          yield* publishedId(bad, "Hello"),
          yield* publishedId(bad, "Hello"),
          yield* publishedId(bad, "Hello")
        ]
        const { body: report } = yield* ask(witness, "POST", "/api/v1/reports", {
          account_id: String(bad.accountId),
          status_ids: [first, second]
        })
        const given = { type: "delete", status_ids: [first, second], report_id: report.id, text: "No" }
        assert.strictEqual((yield* ask(moderator, "POST", path, given)).status, 200)
        for (const id of [first, second]) assert.strictEqual((yield* read(bad, id)).status, 404)
        assert.strictEqual((yield* read(witness, untouched)).status, 200)
        const { body: resolved } = yield* ask(moderator, "GET", `/api/v1/admin/reports/${report.id}`)
        assert.isTrue(resolved.action_taken)
        const { body: [told] } = yield* ask(bad, "GET", "/api/v1/notifications?types[]=moderation_warning")
        assert.deepInclude(told.moderation_warning, {
          action: "delete_statuses",
          text: "No",
          status_ids: [first, second]
        })
        assert.deepStrictEqual((yield* auditEntries(moderator.accountId)).map(({ act }) => act), [
          "report resolve",
          "status destroy",
          "status destroy"
        ])
        // The second moderator is refused.
        const again = yield* ask(moderator, "POST", path, { type: "delete", status_ids: [first] })
        assert.deepStrictEqual([again.status, again.body.error], [
          422,
          "Validation failed: Type has been taken already"
        ])
      }))

    it.effect("S-234: posts are marked as sensitive, which an appeal undoes; their texts stay", () =>
      Effect.gen(function*() {
        const moderator = yield* staffMember("moderator2", ["manageReports"])
        const judge = yield* staffMember("judge2", ["manageAppeals"])
        const bad = yield* newPerson("bad2")
        const [plain, warned] = [
          yield* publishedId(bad, "Hello"),
          yield* publishedId(bad, "Hello", { spoiler_text: "Careful", language: "fr" })
        ]
        const given = { type: "mark_as_sensitive", status_ids: [plain, warned] }
        assert.strictEqual((yield* ask(moderator, "POST", path, given)).status, 200)
        const { body: marked } = yield* read(bad, plain)
        assert.deepInclude(marked, { sensitive: true, spoiler_text: "" })
        assert.include(marked.content, "Hello")
        assert.deepInclude((yield* read(bad, warned)).body, {
          sensitive: true,
          spoiler_text: "Careful",
          language: "fr"
        })
        const [strike = ""] = yield* idsOf(bad, "/api/v1/strikes")
        yield* ask(bad, "POST", `/api/v1/strikes/${strike}/appeal`, { text: "It is not" })
        const [appeal = ""] = yield* idsOf(judge, "/api/v1/admin/appeals?state=pending")
        assert.strictEqual((yield* ask(judge, "POST", `/api/v1/admin/appeals/${appeal}/approve`)).status, 200)
        assert.deepInclude((yield* read(bad, plain)).body, { sensitive: false })
        assert.deepInclude((yield* read(bad, warned)).body, { sensitive: true, spoiler_text: "Careful" })
      }))

    it.effect("S-234 S-066: reported collections are marked, which an appeal reverts, and removed; a deleted one is kept for moderators", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const bits = ["manageReports", "manageAppeals"] as const
        const two = [yield* staffMember("moderator4", bits), yield* staffMember("other4", bits)] as const
        const [moderator] = two
        const [bad, witness, friend] = [
          yield* newPerson("bad4"),
          yield* newPerson("witness4"),
          yield* newPerson("friend4")
        ]
        yield* sql`UPDATE accounts SET discoverable = true WHERE id = ${friend.accountId}`
        const make = Effect.fnUntraced(function*(name: string) {
          const { body } = yield* ask(bad, "POST", "/api/v1/collections", {
            name,
            account_ids: [String(friend.accountId)]
          })
          return String(body.collection.id)
        })
        const collection_ids = [yield* make("First"), yield* make("Second")]
        const [first = "", second = ""] = collection_ids
        const report = Effect.fnUntraced(function*() {
          const { body } = yield* ask(witness, "POST", "/api/v1/reports", {
            account_id: String(bad.accountId),
            collection_ids
          })
          return String(body.id)
        })
        const shown = (id: string) => ask(moderator, "GET", `/api/v1/admin/reports/${id}`)
        const sensitive = (id: string) =>
          Effect.map(ask(witness, "GET", `/api/v1/collections/${id}`), ({ body }) => body.collection.sensitive)
        const sweep = Effect.flatMap(Retention, ({ sweep }) => sweep).pipe(Effect.provide(retention))
        const one = yield* report()
        const marked = yield* ask(moderator, "POST", path, {
          type: "mark_as_sensitive",
          collection_ids: [first],
          report_id: one
        })
        assert.strictEqual(marked.status, 200)
        assert.deepStrictEqual([yield* sensitive(first), yield* sensitive(second)], [true, false])
        assert.isTrue((yield* shown(one)).body.action_taken)
        const [strike = ""] = yield* idsOf(bad, "/api/v1/strikes")
        const { body: told } = yield* ask(bad, "GET", `/api/v1/strikes/${strike}`)
        assert.deepInclude(told, { action: "mark_statuses_as_sensitive", status_ids: null })
        const named = yield* sql`SELECT collection_ids, collection_names FROM account_warnings WHERE id = ${
          BigInt(strike)
        }`
        assert.deepStrictEqual(named, [{ collectionIds: [BigInt(first)], collectionNames: ["First"] }])
        yield* ask(bad, "POST", `/api/v1/strikes/${strike}/appeal`, { text: "It is not" })
        const [appeal = ""] = yield* idsOf(moderator, "/api/v1/admin/appeals?state=pending")
        assert.strictEqual((yield* ask(moderator, "POST", `/api/v1/admin/appeals/${appeal}/approve`)).status, 200)
        assert.isFalse(yield* sensitive(first))
        // Its owner deletes one while its report is open.
        const open = yield* report()
        assert.strictEqual((yield* ask(bad, "DELETE", `/api/v1/collections/${second}`)).status, 200)
        assert.strictEqual((yield* ask(bad, "GET", `/api/v1/collections/${second}`)).status, 404)
        yield* sweep
        const { body: { collections } } = yield* shown(open)
        assert.deepStrictEqual(
          collections.map(({ item_count, name }: Record<string, unknown>) => [name, item_count]),
          [["First", 1], ["Second", 1]]
        )
        // Two moderators at the same time: the log has both.
        const given = { type: "delete", collection_ids: [first], report_id: open, text: "No" }
        const responses = yield* Effect.all(two.map((by) => ask(by, "POST", path, given)), { concurrency: "unbounded" })
        const late = responses.findIndex(({ status }) => status !== 200)
        assert.deepStrictEqual(responses.map(({ status }) => status).toSorted(), [200, 422])
        const [lost] = yield* auditEntries(two[late]!.accountId)
        assert.deepStrictEqual([lost?.act, Object.keys(lost?.after ?? {})], ["collection destroy", ["refused"]])
        assert.include(
          (yield* auditEntries(two[1 - late]!.accountId)).map(({ act, targetLabel }) => `${act} ${targetLabel}`),
          "collection destroy First"
        )
        assert.strictEqual((yield* ask(bad, "GET", `/api/v1/collections/${first}`)).status, 404)
        // A later call is also refused.
        const again = yield* ask(moderator, "POST", path, given)
        assert.deepStrictEqual([again.status, again.body.error], [
          422,
          "Validation failed: Type has been taken already"
        ])
        yield* sweep
        assert.deepStrictEqual(yield* sql`SELECT id FROM kept_collections`, [])
        assert.deepStrictEqual((yield* shown(open)).body.collections, [])
      }))

    it.effect("S-234 S-252: posts of others, of several accounts, of none and of higher roles are refused", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const moderator = yield* staffMember("moderator3", ["manageReports"], 10)
        const higher = yield* staffMember("higher3", ["manageReports"], 10)
        const [bad, other] = [yield* newPerson("bad3"), yield* newPerson("other3")]
        const [mine, theirs, boss] = [
          yield* publishedId(bad, "Hello"),
          yield* publishedId(other, "Hello"),
          yield* publishedId(higher, "Hello")
        ]
        const cases: ReadonlyArray<readonly [object, number]> = [
          [{}, 422],
          [{ type: "burn", status_ids: [mine] }, 422],
          [{ type: "delete" }, 422],
          [{ type: "delete", status_ids: ["900000000000000001"] }, 404],
          [{ type: "delete", status_ids: [mine, theirs] }, 404],
          [{ type: "delete", status_ids: [mine], report_id: "900000000000000001" }, 404],
          [{ type: "delete", status_ids: [mine], text: "x".repeat(5_001) }, 422],
          [{ type: "delete", status_ids: [boss] }, 403],
          [{ type: "delete", collection_ids: ["900000000000000001"] }, 404],
          [{ type: "delete", status_ids: [mine], collection_ids: ["900000000000000001"] }, 404]
        ]
        for (const [given, status] of cases) {
          assert.strictEqual((yield* ask(moderator, "POST", path, given)).status, status, JSON.stringify(given))
        }
        for (const [by, id] of [[bad, mine], [other, theirs], [higher, boss]] as const) {
          assert.strictEqual((yield* read(by, id)).status, 200)
        }
        // For remote posts: only here.
        yield* sql`UPDATE statuses SET local = false, uri = 'https://far.example/1' WHERE id = ${BigInt(theirs)}`
        const remote = yield* ask(moderator, "POST", path, { type: "mark_as_sensitive", status_ids: [theirs] })
        assert.strictEqual(remote.status, 200)
        assert.isTrue((yield* read(bad, theirs)).body.sensitive)
        assert.lengthOf(yield* auditEntries(moderator.accountId), 1)
      }))
  }
)
