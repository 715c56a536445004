import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { GroupedNotificationsResults, Notification } from "../../../src/http/wire/Notification.ts"
import { emptyTables } from "../../support/EmptyTables.ts"
import { get, ids, links, postJson } from "../../support/Requests.ts"
import { issueToken } from "../../support/SignedIn.ts"
import { server } from "../../support/WebServer.ts"

const at = new Date("2026-06-01T12:00:00Z")
const strict = { onExcessProperty: "error" } as const

/** Inserts account 1 with statuses 10 and 11; 2 to 5 favourite, follow and mention it. */
const settle = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* emptyTables("accounts", "statuses", "tags")
  yield* sql`INSERT INTO accounts (id, username, created_at, updated_at)
    SELECT i, 'account' || i, ${at}, ${at} FROM generate_series(1::bigint, 5) i`
  yield* sql`INSERT INTO users (account_id, email, password_hash, confirmed_at, created_at)
    SELECT id, id || '@local.example', '', ${at}, ${at} FROM accounts`
  yield* sql`INSERT INTO statuses (id, account_id, visibility, conversation_id, created_at) VALUES
    (10, 1, 'public', 10, ${at}), (11, 1, 'public', 11, ${at}), (12, 2, 'direct', 12, ${at})`
  yield* sql`INSERT INTO mentions (status_id, account_id) VALUES (12, 1)`
})

const tell = Effect.fnUntraced(function*(id: number, type: string, from: number, statusId = 0, hours = 0) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`INSERT INTO notifications (id, account_id, type, from_account_id, status_id, created_at)
    VALUES (${id}, 1, ${type}, ${from}, ${statusId}, ${new Date(at.getTime() + hours * 3_600_000)})`
})

layer(server(), { excludeTestServices: true })("notifications", (it) => {
  it.effect("S-091, S-149, S-175: lists, counts, shows and dismisses notifications by type and sender", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      yield* settle
      yield* tell(1, "follow", 2)
      yield* tell(2, "favourite", 2, 10)
      yield* tell(3, "mention", 2, 12)
      yield* tell(4, "follow_request", 3)
      yield* tell(5, "reblog", 4, 10)
      yield* tell(6, "unheard_of", 4, 10)
      const path = "/api/v1/notifications"
      const bearer = yield* issueToken(1n)
      const all = yield* get(path, bearer)
      yield* Effect.forEach(all.body, (value) => Schema.decodeUnknownEffect(Notification, strict)(value))
      assert.deepStrictEqual(all.body.map(({ type }: { readonly type: string }) => type), [
        "reblog",
        "follow_request",
        "mention",
        "favourite",
        "follow"
      ])
      assert.deepStrictEqual(yield* ids(`${path}?types[]=mention&types[]=follow&types[]=unknown`, bearer), ["3", "1"])
      assert.deepStrictEqual(yield* ids(`${path}?exclude_types[]=mention&exclude_types[]=reblog`, bearer), [
        "4",
        "2",
        "1"
      ])
      assert.deepStrictEqual(yield* ids(`${path}?account_id=2`, bearer), ["3", "2", "1"])
      assert.deepStrictEqual(yield* ids(`${path}?account_id=777`, bearer), [])
      assert.deepStrictEqual(yield* ids(`${path}?account_id=nobody`, bearer), [])
      const page = yield* get(`${path}?limit=2&exclude_types[]=unheard_of&exclude_types[]=reblog`, bearer)
      assert.strictEqual(
        links(page.headers).next,
        `${path}?limit=2&exclude_types%5B%5D=unheard_of&exclude_types%5B%5D=reblog&max_id=3`
      )
      assert.deepStrictEqual(yield* ids(`${path}?min_id=1&limit=2`, bearer), ["3", "2"])
      assert.strictEqual((yield* get(`${path}/3`, bearer)).body.status.id, "12")
      assert.strictEqual((yield* get(`${path}/777`, bearer)).status, 404)

      const count = (query: string) => Effect.map(get(`${path}/unread_count${query}`, bearer), ({ body }) => body.count)
      assert.strictEqual(yield* count("?exclude_types[]=unheard_of"), 5)
      assert.strictEqual(yield* count("?limit=2"), 2)
      yield* sql`INSERT INTO markers (account_id, timeline, last_read_id, updated_at) VALUES (1, 'notifications', 3, ${at})`
      assert.strictEqual(yield* count("?exclude_types[]=unheard_of"), 2)

      assert.deepStrictEqual((yield* postJson(`${path}/2/dismiss`, bearer)).body, {})
      // The route with the id in its body was removed in Mastodon 3.0.
      assert.strictEqual((yield* postJson(`${path}/dismiss`, bearer, { id: "3" })).status, 404)
      assert.deepStrictEqual((yield* postJson(`${path}/3/dismiss`, bearer)).body, {})
      assert.deepStrictEqual(yield* ids(path, bearer), ["5", "4", "1"])
      assert.deepStrictEqual((yield* postJson(`${path}/clear`, bearer)).body, {})
      assert.deepStrictEqual(yield* ids(path, bearer), [])
      assert.strictEqual((yield* get(path, yield* issueToken(1n, ["read:statuses"]))).status, 403)
      assert.strictEqual((yield* postJson(`${path}/clear`, yield* issueToken(1n, ["read"]))).status, 403)
    }))

  it.effect("row 62: none from accounts that the owner blocks or mutes with notifications, or from suspended ones", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      yield* settle
      yield* Effect.forEach([2, 3, 4, 5], (from) => tell(from, "follow", from))
      const bearer = yield* issueToken(1n)
      yield* sql`INSERT INTO blocks (id, account_id, target_account_id) VALUES (1, 1, 2)`
      yield* sql`INSERT INTO mutes (id, account_id, target_account_id, hide_notifications, expires_at)
        VALUES (1, 1, 3, true, NULL), (2, 1, 4, false, NULL), (3, 1, 5, true, '2000-01-01')`
      assert.deepStrictEqual(yield* ids("/api/v1/notifications", bearer), ["5", "4"])
      yield* sql`UPDATE accounts SET suspended_at = ${at} WHERE id = 4`
      assert.deepStrictEqual(yield* ids("/api/v1/notifications", bearer), ["5"])
      const { body } = yield* get("/api/v2/notifications", bearer)
      assert.deepStrictEqual(
        body.notification_groups.map((group: { readonly page_max_id: string }) => group.page_max_id),
        ["5"]
      )
      assert.strictEqual((yield* get("/api/v1/notifications/unread_count", bearer)).body.count, 1)
    }))

  it.effect("groups favourites, reblogs and follows of half a day, with each account and status once", () =>
    Effect.gen(function*() {
      yield* settle
      yield* tell(1, "favourite", 2, 10)
      yield* tell(2, "favourite", 3, 10, 1)
      yield* tell(3, "mention", 2, 12, 2)
      yield* tell(4, "favourite", 4, 10, 3)
      yield* tell(5, "favourite", 4, 11, 3)
      yield* tell(6, "follow", 5, 0, 4)
      yield* tell(7, "favourite", 5, 10, 13)
      const path = "/api/v2/notifications"
      const bearer = yield* issueToken(1n)
      const decode = Schema.decodeUnknownEffect(GroupedNotificationsResults, strict)
      const all = yield* decode((yield* get(path, bearer)).body)
      const shape = all.notification_groups.map((
        { notifications_count, page_max_id, page_min_id, sample_account_ids, type }
      ) => [type, notifications_count, page_max_id, page_min_id, sample_account_ids.join()].join(" "))
      assert.deepStrictEqual(shape, [
        "favourite 1 7 7 5",
        "follow 1 6 6 5",
        "favourite 1 5 5 4",
        "favourite 3 4 1 4,3,2",
        "mention 1 3 3 2"
      ])
      assert.deepStrictEqual(all.statuses.map(({ id }) => id).toSorted(), ["10", "11", "12"])
      assert.strictEqual(new Set(all.accounts.map(({ id }) => id)).size, all.accounts.length)

      // The third page starts inside a group, which repeats with its remaining entries.
      const seen: Array<string> = []
      let url: string | undefined = `${path}?limit=2`
      while (url !== undefined) {
        const { body, headers }: { body: unknown; headers: Headers } = yield* get(url, bearer)
        const page = yield* decode(body)
        seen.push(
          page.notification_groups.map(({ page_max_id, page_min_id }) => `${page_max_id}-${page_min_id}`).join(" ")
        )
        url = links(headers).next
      }
      assert.deepStrictEqual(seen, ["7-7 6-6", "5-5 4-4", "3-3 2-1", ""])

      const alone = yield* decode((yield* get(`${path}?grouped_types[]=follow`, bearer)).body)
      assert.strictEqual(alone.notification_groups.length, 7)
      const partial = yield* decode((yield* get(`${path}?expand_accounts=partial_avatars`, bearer)).body)
      assert.deepStrictEqual(partial.partial_accounts?.map(({ id }) => id), ["3"])
      assert.strictEqual((yield* get(`${path}?expand_accounts=all`, bearer)).status, 400)
      assert.strictEqual((yield* get(`${path}/unread_count`, bearer)).body.count, 5)

      const key = all.notification_groups[3]?.group_key ?? ""
      assert.strictEqual((yield* get("/api/v1/notifications/4", bearer)).body.group_key, key)
      const one = yield* decode((yield* get(`${path}/${key}`, bearer)).body)
      assert.strictEqual(one.notification_groups[0]?.notifications_count, 3)
      assert.deepStrictEqual(yield* ids(`${path}/${key}/accounts`, bearer), ["4", "3", "2"])
      assert.strictEqual((yield* get(`${path}/nonsense`, bearer)).status, 404)
      yield* postJson(`${path}/${key}/dismiss`, bearer)
      assert.deepStrictEqual(yield* ids("/api/v1/notifications", bearer), ["7", "6", "5", "3"])
    }))
})
