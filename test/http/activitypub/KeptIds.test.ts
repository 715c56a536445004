import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { json, newPerson, publish } from "../../support/Api.ts"
import { eventually } from "../../support/Eventually.ts"
import { TestServer } from "../../support/Server.ts"
import { actorOf, found, there, told } from "./InboxCalls.ts"
import { deliverFrom, note, servers } from "./Sending.ts"

const documentAt = (path: string) =>
  TestServer.use(({ fetch }) =>
    Effect.gen(function*() {
      const response = yield* fetch(path, { headers: { accept: "application/activity+json" } })
      const text = yield* Effect.promise(() => response.text())
      return { status: response.status, json: text === "" ? {} : JSON.parse(text) }
    })
  )

layer(servers, { excludeTestServices: true })("ids from another server", (it) => {
  it.effect("a thread keeps its id and the collection of its posts, and replies join it", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { baseUrl } = yield* TestServer
      const anna = yield* newPerson("anna")
      const root = yield* publish(anna, "the first")
      const thread = `${baseUrl}/contexts/${anna.accountId}-${root.id}`
      yield* sql`UPDATE statuses SET conversation_id = 77 WHERE id = ${BigInt(root.id)}`
      yield* sql`INSERT INTO conversations (id, uri, root_id) VALUES (77, ${thread}, ${BigInt(root.id)})`
      const reply = yield* publish(anna, "the second", { in_reply_to_id: root.id })
      for (const { id } of [root, reply]) {
        const { json: document } = yield* documentAt(`/users/anna/statuses/${id}`)
        assert.deepInclude(document, { conversation: thread, context: thread })
      }
      const path = thread.slice(baseUrl.length)
      assert.deepInclude((yield* documentAt(path)).json, { id: thread, attributedTo: yield* actorOf(anna) })
      assert.deepStrictEqual((yield* documentAt(`${path}?page=true`)).json.items, [root.uri, reply.uri])
      const other = yield* newPerson("other")
      for (
        const wrong of [
          "77",
          `${root.id}`,
          `${anna.accountId}-77`,
          `${other.accountId}-${root.id}`,
          `${anna.accountId}-${reply.id}`,
          `1-${anna.accountId}-${root.id}`,
          `-${root.id}`,
          "-"
        ]
      ) assert.strictEqual((yield* documentAt(`/contexts/${wrong}`)).status, 404, wrong)
      const own = yield* publish(other, "a thread that began here")
      const { json: document } = yield* documentAt(`/users/other/statuses/${own.id}`)
      assert.strictEqual(document.context, `${baseUrl}/contexts/${own.id}`)
      assert.strictEqual((yield* documentAt(`/contexts/${other.accountId}-${own.id}`)).status, 404)
    }))

  it.effect("a thread that began elsewhere keeps its id, and has no collection here", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const bert = yield* newPerson("bert")
      const { id } = yield* publish(bert, "a reply from before")
      yield* sql`UPDATE statuses SET conversation_id = 78 WHERE id = ${BigInt(id)}`
      yield* sql`INSERT INTO conversations (id, uri) VALUES (78, 'tag:far.example,2020-01-01:objectId=5:objectType=Conversation')`
      const { json: document } = yield* documentAt(`/users/bert/statuses/${id}`)
      assert.strictEqual(document.conversation, "tag:far.example,2020-01-01:objectId=5:objectType=Conversation")
      assert.notProperty(document, "context")
    }))

  it.effect("a reply to a post by its tag: id, and a like of it, arrive at the post", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const [cora, zoe] = [yield* newPerson("cora"), yield* there("zoe")]
      const { id } = yield* publish(cora, "from the year 2016")
      const tag = "tag:local.example,2016-11-24:objectId=12:objectType=Status"
      yield* sql`INSERT INTO status_aliases (uri, status_id) VALUES (${tag}, ${BigInt(id)})`
      const me = yield* actorOf(cora)
      yield* deliverFrom(zoe, {
        type: "Create",
        object: note(zoe, "reply", { inReplyTo: tag, cc: [me], tag: [{ type: "Mention", href: me }] })
      })
      yield* deliverFrom(zoe, { type: "Like", object: tag })
      const { descendants } = yield* json(cora, `/api/v1/statuses/${id}/context`)
      assert.deepStrictEqual(descendants.map((one: { readonly in_reply_to_id: string }) => one.in_reply_to_id), [id])
      assert.deepInclude(yield* json(cora, `/api/v1/statuses/${id}`), { favourites_count: 1, replies_count: 1 })
      assert.sameMembers(yield* told(cora), ["mention zoe", "favourite zoe"])
    }))

  it.effect("an Undo of an earlier like, block or follow has the id of its activity", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const [dora, yan] = [yield* newPerson("dora"), yield* there("yan")]
      const me = yield* actorOf(dora)
      const { id } = yield* found(dora, "yan")
      const [blockId, followId] = ["https://local.example/payloads/b", "https://local.example/payloads/f"]
      const at = new Date()
      yield* sql`INSERT INTO blocks (id, account_id, target_account_id, uri)
        VALUES (12, ${dora.accountId}, ${BigInt(id)}, ${blockId})`
      yield* json(dora, `/api/v1/accounts/${id}/unblock`, {})
      yield* sql`INSERT INTO follows (id, account_id, target_account_id, uri, created_at)
        VALUES (13, ${dora.accountId}, ${BigInt(id)}, ${followId}, ${at})`
      yield* json(dora, `/api/v1/accounts/${id}/unfollow`, {})
      yield* deliverFrom(yan, {
        type: "Create",
        object: note(yan, "liked", { cc: [me], tag: [{ type: "Mention", href: me }] })
      })
      const [{ status: { id: post } }] = yield* json(dora, "/api/v1/notifications")
      yield* sql`INSERT INTO favourites (id, account_id, status_id) VALUES (14, ${dora.accountId}, ${BigInt(post)})`
      yield* json(dora, `/api/v1/statuses/${post}/unfavourite`, {})
      const sent = sql<{ document: string }>`SELECT document FROM outgoing_activities
        WHERE sender_id = ${dora.accountId} AND type = 'Undo' ORDER BY id`
      const rows = yield* eventually(sent, (all) => all.length === 3)
      const undone = rows.map(({ document }) => JSON.parse(document))
      assert.deepStrictEqual(undone.map(({ object }) => [object.type, object.id]), [
        ["Block", blockId],
        ["Follow", followId],
        ["Like", `${me}#likes/14`]
      ])
    }))
})
