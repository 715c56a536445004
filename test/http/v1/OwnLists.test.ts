import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { MutedAccount } from "../../../src/http/wire/Account.ts"
import { Conversation } from "../../../src/http/wire/Conversation.ts"
import { Context, StatusEdit, StatusSource } from "../../../src/http/wire/Status.ts"
import { emptyTables } from "../../support/EmptyTables.ts"
import { get, ids, links, postJson, send } from "../../support/Requests.ts"
import { issueToken } from "../../support/SignedIn.ts"
import { server } from "../../support/WebServer.ts"

const at = new Date("2026-06-01T12:00:00Z")
const strict = { onExcessProperty: "error" } as const

const settle = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* emptyTables("accounts", "statuses", "tags")
  yield* sql`INSERT INTO accounts (id, username, suspended_at, created_at, updated_at)
    SELECT i, 'account' || i, CASE WHEN i = 5 THEN ${at}::timestamptz END, ${at}, ${at} FROM generate_series(1::bigint, 5) i`
  yield* sql`INSERT INTO users (account_id, email, password_hash, confirmed_at, created_at)
    SELECT id, id || '@local.example', '', ${at}, ${at} FROM accounts`
})

const status = Effect.fnUntraced(function*(id: number, by: number, more: Record<string, unknown> = {}) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`INSERT INTO statuses ${
    sql.insert({ id, accountId: by, visibility: "public", conversationId: id, createdAt: at, ...more })
  }`
})

layer(server(), { excludeTestServices: true })("the user's own lists", (it) => {
  it.effect("S-141, S-210, S-211: blocks, mutes with their ends, and follow requests, paged by their own ids", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      yield* settle
      yield* sql`INSERT INTO blocks (id, account_id, target_account_id) VALUES (21, 1, 2), (22, 1, 3), (23, 1, 5), (24, 2, 1)`
      yield* sql`INSERT INTO mutes (id, account_id, target_account_id, expires_at)
        VALUES (31, 1, 2, NULL), (32, 1, 3, '2100-01-01'), (33, 1, 4, '2000-01-01')`
      yield* sql`INSERT INTO follow_requests (id, account_id, target_account_id, created_at)
        VALUES (41, 2, 1, ${at}), (42, 4, 1, ${at}), (43, 1, 2, ${at})`
      const bearer = yield* issueToken(1n)
      const blocks = yield* get("/api/v1/blocks?limit=1", bearer)
      assert.deepStrictEqual(blocks.body.map(({ id }: { readonly id: string }) => id), ["3"])
      assert.deepStrictEqual(links(blocks.headers), {
        next: "/api/v1/blocks?limit=1&max_id=22",
        prev: "/api/v1/blocks?limit=1&since_id=22"
      })
      assert.deepStrictEqual(yield* ids(links(blocks.headers).next ?? "", bearer), ["2"])
      const mutes = yield* get("/api/v1/mutes", bearer)
      const decoded = yield* Schema.decodeUnknownEffect(Schema.Array(MutedAccount), strict)(mutes.body)
      assert.deepStrictEqual(decoded.map(({ id, mute_expires_at }) => [id, mute_expires_at]), [
        ["3", "2100-01-01T00:00:00.000Z"],
        ["2", null]
      ])
      assert.deepStrictEqual(yield* ids("/api/v1/follow_requests", bearer), ["4", "2"])
      assert.deepStrictEqual(yield* ids("/api/v1/endorsements", bearer), [])
      const scopes = { blocks: "read:blocks", mutes: "read:mutes", follow_requests: "read:follows" }
      for (const [path, scope] of Object.entries(scopes)) {
        assert.strictEqual((yield* get(`/api/v1/${path}`, yield* issueToken(1n, [scope]))).status, 200)
        assert.strictEqual((yield* get(`/api/v1/${path}`, yield* issueToken(1n, ["follow"]))).status, 200)
        assert.strictEqual((yield* get(`/api/v1/${path}`, yield* issueToken(1n, ["write"]))).status, 403)
        assert.strictEqual((yield* get(`/api/v1/${path}`)).status, 401)
      }
    }))

  it.effect("S-127, S-200, S-201: bookmarks are added and removed, also when the author blocks; favourites page by their own ids", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      yield* settle
      yield* Effect.forEach([10, 11, 12], (id) => status(id, 2))
      yield* status(13, 3, { reblogOfId: 10 })
      const bearer = yield* issueToken(1n)
      const marked = yield* postJson("/api/v1/statuses/13/bookmark", bearer)
      assert.deepStrictEqual([marked.body.id, marked.body.bookmarked, marked.body.reblog.bookmarked], [
        "13",
        true,
        true
      ])
      yield* postJson("/api/v1/statuses/13/bookmark", bearer)
      yield* postJson("/api/v1/statuses/12/bookmark", bearer)
      assert.deepStrictEqual(yield* ids("/api/v1/bookmarks", bearer), ["12", "10"])
      const first = yield* get("/api/v1/bookmarks?limit=1", bearer)
      assert.deepStrictEqual(yield* ids(links(first.headers).next ?? "", bearer), ["10"])
      assert.deepStrictEqual(yield* ids(links(first.headers).prev ?? "", bearer), [])
      yield* sql`INSERT INTO blocks (id, account_id, target_account_id) VALUES (1, 2, 1)`
      assert.deepStrictEqual(yield* ids("/api/v1/bookmarks", bearer), [])
      const undone = yield* postJson("/api/v1/statuses/10/unbookmark", bearer)
      assert.deepStrictEqual([undone.status, undone.body.bookmarked], [200, false])
      assert.strictEqual((yield* postJson("/api/v1/statuses/10/unbookmark", bearer)).status, 404)
      yield* sql`DELETE FROM blocks`
      assert.deepStrictEqual(yield* ids("/api/v1/bookmarks", bearer), ["12"])
      assert.strictEqual((yield* postJson("/api/v1/statuses/11/unbookmark", bearer)).status, 200)

      yield* sql`INSERT INTO favourites (id, account_id, status_id) VALUES (5, 1, 12), (6, 1, 10), (7, 2, 11)`
      const favourites = yield* get("/api/v1/favourites?limit=1", bearer)
      assert.deepStrictEqual(favourites.body.map(({ id }: { readonly id: string }) => id), ["10"])
      assert.strictEqual(links(favourites.headers).next, "/api/v1/favourites?limit=1&max_id=6")
      assert.strictEqual(links(favourites.headers).prev, "/api/v1/favourites?limit=1&min_id=6")
      assert.deepStrictEqual(yield* ids("/api/v1/favourites?min_id=5", bearer), ["10"])
    }))

  it.effect("S-092, S-145, S-205: conversations by their last status, read, unread and removed", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      yield* settle
      yield* status(50, 2, { visibility: "direct" })
      yield* status(51, 1, { visibility: "direct" })
      yield* sql`INSERT INTO mentions (status_id, account_id) VALUES (50, 1)`
      yield* sql`INSERT INTO account_conversations
        (id, account_id, conversation_id, participant_ids, status_ids, last_status_id, unread) VALUES
        (7, 1, 50, '{2,3}', '{50}', 50, true), (8, 1, 51, '{}', '{51}', 51, false), (9, 2, 50, '{1}', '{50}', 50, false)`
      const bearer = yield* issueToken(1n)
      const path = "/api/v1/conversations"
      const list = yield* get(path, bearer)
      const decoded = yield* Schema.decodeUnknownEffect(Schema.Array(Conversation), strict)(list.body)
      assert.deepStrictEqual(
        decoded.map(({ accounts, id, last_status, unread }) => [
          id,
          unread,
          last_status?.id,
          accounts.map((account) => account.id).join()
        ]),
        [["8", false, "51", "1"], ["7", true, "50", "2,3"]]
      )
      const page = yield* get(`${path}?limit=1`, bearer)
      assert.strictEqual(links(page.headers).next, `${path}?limit=1&max_id=51`)
      assert.deepStrictEqual(yield* ids(links(page.headers).next ?? "", bearer), ["7"])
      assert.strictEqual((yield* postJson(`${path}/7/read`, bearer)).body.unread, false)
      assert.strictEqual((yield* postJson(`${path}/7/unread`, bearer)).body.unread, true)
      const removed = yield* send(`${path}/7`, { method: "DELETE", headers: { authorization: `Bearer ${bearer}` } })
      assert.deepStrictEqual([removed.status, removed.body], [200, {}])
      assert.deepStrictEqual(yield* ids(path, bearer), ["8"])
      assert.strictEqual((yield* postJson(`${path}/7/read`, bearer)).status, 404)
      assert.strictEqual((yield* get("/api/v1/statuses/50", bearer)).status, 200)
    }))

  it.effect("S-144, S-196: history has the original first, and a context the whole thread, depth first", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      yield* settle
      const response = (to: number, of: number) => ({ inReplyToId: to, inReplyToAccountId: of, conversationId: 60 })
      yield* status(60, 1, { html: "one", text: "one" })
      yield* status(61, 2, response(60, 1))
      yield* status(62, 1, response(60, 1))
      yield* status(63, 3, response(61, 2))
      yield* status(64, 2, { ...response(62, 1), visibility: "private" })
      yield* status(65, 3, response(64, 2))
      yield* status(66, 1, response(62, 1))
      const thread = yield* get("/api/v1/statuses/60/context")
      const context = yield* Schema.decodeUnknownEffect(Context, strict)(thread.body)
      assert.deepStrictEqual(context.descendants.map(({ id }) => id), ["62", "66", "65", "61", "63"])
      const above = (yield* get("/api/v1/statuses/65/context", yield* issueToken(2n))).body
      assert.deepStrictEqual(above.ancestors.map(({ id }: { readonly id: string }) => id), ["60", "62", "64"])

      const one = yield* get("/api/v1/statuses/60/history")
      assert.strictEqual(one.body.length, 1)
      yield* sql`INSERT INTO status_edits (id, status_id, text, html, spoiler_text, sensitive, created_at)
        VALUES (1, 60, 'one', 'one', '', false, ${at}), (2, 60, 'two', 'two', 'cw', true, ${at})`
      yield* sql`UPDATE statuses SET text = 'two', html = 'two', spoiler_text = 'cw', edited_at = ${at} WHERE id = 60`
      const edits = yield* Schema.decodeUnknownEffect(Schema.Array(StatusEdit), strict)(
        (yield* get("/api/v1/statuses/60/history")).body
      )
      assert.deepStrictEqual(edits.map(({ content, sensitive }) => [content, sensitive]), [["one", false], [
        "two",
        true
      ]])
      const source = yield* get("/api/v1/statuses/60/source", yield* issueToken(3n))
      assert.deepInclude(yield* Schema.decodeUnknownEffect(StatusSource, strict)(source.body), {
        id: "60",
        text: "two",
        spoiler_text: "cw"
      })
      assert.strictEqual((yield* get("/api/v1/statuses/60/source")).status, 401)
    }))

  it.effect(
    "S-196: a thread of thousands is shown up to 4,096 each way, with or without a user",
    () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        yield* settle
        yield* sql`INSERT INTO statuses (id, account_id, visibility, conversation_id, in_reply_to_id, in_reply_to_account_id, created_at)
        SELECT 10000 + i, 1, 'public', 10000, CASE WHEN i > 0 THEN 9999 + i END, CASE WHEN i > 0 THEN 1 END, ${at}
        FROM generate_series(0, 9000) i`
        const { body } = yield* get("/api/v1/statuses/14500/context")
        assert.deepStrictEqual([body.ancestors.length, body.descendants.length], [4096, 4096])
        assert.deepStrictEqual([body.ancestors[0].id, body.ancestors[4095].id, body.descendants[0].id], [
          "10404",
          "14499",
          "14501"
        ])
      })
  )
})
