import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Notification } from "../../../src/http/wire/Notification.ts"
import {
  flagCommentCharactersMax,
  flagsManyMin,
  flagsOfOthersMax,
  flagsPerDayMax
} from "../../../src/services/moderation/Flags.ts"
import { json, newPerson, publish } from "../../support/Api.ts"
import type { Person } from "../../support/Server.ts"
import { actorOf, found, there } from "./InboxCalls.ts"
import { deliverFrom, send, servers, settled } from "./Sending.ts"

interface Row {
  readonly targetAccountId: bigint
  readonly comment: string
  readonly statusIds: ReadonlyArray<bigint>
}
const reports = SqlClient.SqlClient.use((sql) =>
  sql<Row>`SELECT target_account_id, comment, status_ids FROM reports ORDER BY id`
)
const promote = (by: Person, role: number) =>
  SqlClient.SqlClient.use((sql) => sql`UPDATE users SET role_id = ${role} WHERE account_id = ${by.accountId}`)
const decode = Schema.decodeUnknownEffect(Notification, { onExcessProperty: "error" })

layer(servers, { excludeTestServices: true })("reports of other servers", (it) => {
  it.effect("S-011: collections of the reported account in a remote report are named; those of others are left out", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const [cora, dora] = [yield* newPerson("curating"), yield* newPerson("collecting")]
      const [mine, theirs] = [
        (yield* json(cora, "/api/v1/collections", { name: "Rude" })).collection,
        (yield* json(dora, "/api/v1/collections", { name: "Kind" })).collection
      ]
      const instance = yield* there("flagger", { type: "Application" })
      const flag = {
        type: "Flag",
        id: `${instance.id}/flags/1`,
        object: [yield* actorOf(cora), mine.uri, theirs.uri, `${mine.uri}0`],
        content: "Look"
      }
      assert.strictEqual(yield* deliverFrom(instance, flag), "done")
      assert.deepStrictEqual(
        yield* sql`SELECT collection_ids FROM reports WHERE target_account_id = ${cora.accountId}`,
        [{ collectionIds: [BigInt(mine.id)] }]
      )
      yield* sql`DELETE FROM reports`
    }))

  it.effect("F103: reports of one server whose ids differ only in fragments are all filed, each once", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const eve = yield* newPerson("eve")
      const instance = yield* there("fragments", { type: "Application" })
      const object = [yield* actorOf(eve)]
      const flag = (n: number) => ({ type: "Flag", id: `${instance.id}#reports/${n}`, object, content: `report ${n}` })
      assert.strictEqual(yield* deliverFrom(instance, flag(1)), "done")
      assert.strictEqual(yield* deliverFrom(instance, flag(2)), "done")
      yield* send(instance, flag(2))
      assert.deepStrictEqual((yield* reports).map(({ comment }) => comment), ["report 1", "report 2"])
      yield* sql`DELETE FROM reports`
    }))

  it.effect("S-011: another server reports an account and its posts, and moderators are notified once", () =>
    Effect.gen(function*() {
      const [anna, mod, boss, ben] = [
        yield* newPerson("anna"),
        yield* newPerson("mona"),
        yield* newPerson("bob"),
        yield* newPerson("ben")
      ]
      yield* promote(mod, 1)
      yield* promote(boss, 3)
      const status = yield* publish(anna, "bad")
      const instance = yield* there("instance", { type: "Application" })
      const flag = {
        type: "Flag",
        id: `${instance.id}/flags/1`,
        object: [yield* actorOf(anna), status.uri],
        content: "x".repeat(flagCommentCharactersMax) + "y"
      }
      assert.strictEqual(yield* deliverFrom(instance, flag), "done")
      yield* send(instance, flag)
      assert.deepStrictEqual(yield* reports, [{
        targetAccountId: anna.accountId,
        comment: "x".repeat(flagCommentCharactersMax),
        statusIds: [BigInt(status.id)]
      }])
      for (const by of [mod, boss]) {
        const [notification, ...rest] = yield* json(by, "/api/v1/notifications")
        assert.isEmpty(rest)
        const { account, report, type } = yield* decode(notification)
        assert.deepStrictEqual([type, account.username, report?.target_account.username, report?.status_ids], [
          "admin.report",
          "instance",
          "anna",
          [status.id]
        ])
        const { notification_groups: [group] } = yield* json(by, "/api/v2/notifications")
        assert.strictEqual(group.report.id, report?.id)
      }
      assert.isEmpty(yield* json(ben, "/api/v1/notifications"))
      // Local reports also notify moderators.
      yield* json(ben, "/api/v1/reports", { account_id: String(anna.accountId), comment: "look" })
      yield* json(ben, "/api/v1/reports", { account_id: String(anna.accountId), comment: "look again" })
      yield* settled
      const all: ReadonlyArray<typeof Notification.Encoded> = yield* json(mod, "/api/v1/notifications")
      assert.deepStrictEqual(all.map(({ report }) => report?.comment.slice(0, 10)), [
        "look again",
        "look",
        "xxxxxxxxxx"
      ])
    }))

  it.effect("row 20: posts of other accounts or unreadable for the reporter's server are left out", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      yield* sql`DELETE FROM reports`
      const [cleo, dora, yan, far] = [
        yield* newPerson("cleo"),
        yield* newPerson("dora"),
        yield* there("yan"),
        yield* there("far")
      ]
      const { id: mentioned } = yield* found(cleo, "yan")
      const open = yield* publish(cleo, "open")
      const followers = yield* publish(cleo, "for followers", { visibility: "private" })
      const direct = yield* publish(cleo, "for one", { visibility: "direct" })
      yield* sql`INSERT INTO mentions (status_id, account_id) VALUES (${direct.id}, ${mentioned})`
      const secret = yield* publish(cleo, `@${dora.username} for another`, { visibility: "direct" })
      const other = yield* publish(dora, "of another")
      const object = [
        ...[open, followers, direct, secret, other].map(({ uri }) => uri),
        yield* actorOf(cleo),
        "https://far.test/posts/1",
        far.id
      ]
      const flags = Effect.fnUntraced(function*(n: number) {
        assert.strictEqual(yield* deliverFrom(far, { type: "Flag", id: `${far.id}/flags/${n}`, object }), "done")
        return (yield* reports).at(-1)
      })
      const ids = (...statuses: ReadonlyArray<{ id: string }>) => statuses.map(({ id }) => BigInt(id))
      assert.deepStrictEqual((yield* flags(1))?.statusIds, ids(open, direct))
      yield* deliverFrom(yan, { type: "Follow", object: yield* actorOf(cleo) })
      const last = yield* flags(2)
      assert.deepStrictEqual([last?.targetAccountId, last?.statusIds], [cleo.accountId, ids(open, followers, direct)])
    }))

  it.effect("row 20: a report counts for its sender about local accounts, with a daily limit", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      yield* sql`DELETE FROM reports`
      const [emil, xeno, will] = [yield* newPerson("emil"), yield* there("xeno"), yield* there("will")]
      const object = yield* actorOf(emil)
      for (
        const activity of [
          { type: "Flag", id: "https://far.test/flags/1", object },
          { type: "Flag", object: will.id },
          { type: "Flag", object: [] },
          { type: "Flag", object: `${object}x` }
        ]
      ) {
        assert.match((yield* deliverFrom(xeno, activity)) ?? "", /^ignored/, JSON.stringify(activity))
      }
      assert.isEmpty(yield* reports)
      assert.strictEqual(yield* deliverFrom(will, { type: "Flag", object }), "done")
      yield* sql`INSERT INTO reports (id, account_id, target_account_id, category, comment, status_ids, rule_ids,
          forward_domains, created_at)
        SELECT n, account_id, target_account_id, 'other', '', '{}', '{}', '{}', ${new Date()}
        FROM reports, generate_series(2::bigint, ${flagsPerDayMax + flagsOfOthersMax}) n`
      assert.match((yield* deliverFrom(xeno, { type: "Flag", object })) ?? "", /^ignored: .* too many today/)
      yield* sql`UPDATE reports SET created_at = ${new Date(Date.now() - 2 * 86_400_000)} WHERE id < 10`
      assert.strictEqual(yield* deliverFrom(xeno, { type: "Flag", object }), "done")
    }))

  it.effect("F419: one sender cannot use up the reports that a server may send in a day", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      yield* sql`DELETE FROM reports`
      const [fred, loud, calm] = [yield* newPerson("fred"), yield* there("loud"), yield* there("calm")]
      const instance = yield* there("speaking", { type: "Application" })
      const flag = { type: "Flag", object: yield* actorOf(fred) }
      const again = (count: number, by: string) =>
        sql`INSERT INTO reports (id, account_id, target_account_id, category, comment, status_ids, rule_ids,
            forward_domains, created_at)
          SELECT next_id(${Date.now()}), account_id, target_account_id, 'other', '', '{}', '{}', '{}', ${new Date()}
          FROM (SELECT r.* FROM reports r JOIN accounts a ON a.id = r.account_id WHERE a.username = ${by} LIMIT 1) r,
            generate_series(1, ${count})`
      for (const sender of [loud, instance]) assert.strictEqual(yield* deliverFrom(sender, flag), "done")
      yield* again(flagsPerDayMax - 3, "loud")
      assert.strictEqual(yield* deliverFrom(loud, flag), "done")
      assert.match((yield* deliverFrom(loud, flag)) ?? "", /^ignored: .* too many today/)
      for (const sender of [calm, instance]) assert.strictEqual(yield* deliverFrom(sender, flag), "done")
      yield* again(flagsManyMin - 2, "speaking")
      assert.match((yield* deliverFrom(instance, flag)) ?? "", /^ignored: .* too many today/)
      yield* sql`DELETE FROM reports WHERE account_id IN (SELECT id FROM accounts WHERE username = 'speaking')`
      assert.strictEqual(yield* deliverFrom(calm, flag), "done")
    }))
})
