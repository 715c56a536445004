import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { json, newPerson } from "../../support/Api.ts"
import { acceptPrivateMentions } from "../../support/People.ts"
import { actorOf, found, mentioning, received, there, told } from "./InboxCalls.ts"
import { deliverFrom, note, OtherServer, servers } from "./Sending.ts"

const contents = (all: ReadonlyArray<{ content: string }>) => all.map(({ content }) => content)

layer(servers, { excludeTestServices: true })("audiences of remote posts", (it) => {
  it.effect("S-009: a post for people that it does not mention is visible to them, without notification or conversation", () =>
    Effect.gen(function*() {
      const [anna, ben, cleo, zoe] = [
        yield* newPerson("anna"),
        yield* newPerson("ben"),
        yield* newPerson("cleo"),
        yield* there("zoe")
      ]
      yield* acceptPrivateMentions(anna, ben)
      const [me, other] = [yield* actorOf(anna), yield* actorOf(ben)]
      const { id } = yield* found(ben, "zoe")
      for (const by of [ben, cleo]) {
        yield* json(by, `/api/v1/accounts/${id}/follow`, {})
        yield* deliverFrom(zoe, {
          type: "Accept",
          object: { type: "Follow", actor: yield* actorOf(by), object: zoe.id }
        })
      }
      const object = note(zoe, "few", { to: [me, other], cc: [], tag: mentioning(me).tag })
      assert.strictEqual(yield* deliverFrom(zoe, { type: "Create", object }), "done")
      const status = yield* received(anna)
      assert.strictEqual(status.visibility, "private")
      assert.deepStrictEqual(status.mentions.map(({ acct }: { acct: string }) => acct), ["anna"])
      assert.deepStrictEqual(yield* told(ben), [])
      assert.deepStrictEqual(contents(yield* json(ben, "/api/v1/timelines/home")), ["<p>few</p>"])
      assert.isEmpty(yield* json(cleo, "/api/v1/timelines/home"))
      assert.strictEqual((yield* json(cleo, `/api/v1/statuses/${status.id}`)).error, "Record not found")
      for (const by of [anna, ben]) assert.isEmpty(yield* json(by, "/api/v1/conversations"))
      const edit = { ...object, content: "<p>still few</p>", updated: new Date().toISOString() }
      assert.strictEqual(yield* deliverFrom(zoe, { type: "Update", object: edit }), "done")
      assert.strictEqual((yield* json(ben, `/api/v1/statuses/${status.id}`)).content, "<p>still few</p>")
      assert.strictEqual((yield* json(cleo, `/api/v1/statuses/${status.id}`)).error, "Record not found")
      // With a mention, it is a conversation of the two.
      yield* deliverFrom(zoe, { type: "Create", object: note(zoe, "one", { ...mentioning(me), to: [me], cc: [] }) })
      assert.strictEqual((yield* received(anna)).visibility, "direct")
      assert.strictEqual((yield* json(anna, "/api/v1/conversations")).length, 1)
    }))

  it.effect("F44: an edit that drops the only mention and precedes its post is stored for its recipients", () =>
    Effect.gen(function*() {
      const [nora, yves] = [yield* newPerson("nora"), yield* there("yves")]
      const me = yield* actorOf(nora)
      const early = new Date(Date.now() - 60_000).toISOString()
      const updated = new Date().toISOString()
      const text = (status: { content: string }) => status.content
      for (const [name, to] of [["open", {}], ["few", { to: [`${yves.id}/followers`] }]] as const) {
        const first = note(yves, name, { ...mentioning(me), ...to, published: early })
        const edited = { ...first, content: "<p>edited</p>", tag: [], updated }
        assert.strictEqual(yield* deliverFrom(yves, { type: "Update", object: edited }), "done")
        assert.strictEqual(yield* deliverFrom(yves, { type: "Create", object: first }), "ignored: already stored")
        const sql = yield* SqlClient.SqlClient
        const [{ id } = { id: 0n }] = yield* sql<{ id: bigint }>`SELECT id FROM statuses WHERE uri = ${
          String(first["id"])
        }`
        assert.strictEqual(text(yield* json(nora, `/api/v1/statuses/${id}`)), "<p>edited</p>")
        assert.isEmpty(yield* told(nora))
      }
      // Known remote accounts are not local readers.
      const strangers = note(yves, "strangers", mentioning((yield* there("yann")).id))
      assert.strictEqual(
        yield* deliverFrom(yves, { type: "Create", object: strangers }),
        "ignored: irrelevant to local accounts"
      )
    }))

  it.effect("row 17, row 62: accounts that block the author or its server are not mentioned", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { domain } = yield* OtherServer
      const [dora, emil, fay, yan] = [
        yield* newPerson("dora"),
        yield* newPerson("emil"),
        yield* newPerson("fay"),
        yield* there("yan")
      ]
      const { id } = yield* found(dora, "yan")
      yield* json(dora, `/api/v1/accounts/${id}/block`, {})
      yield* sql`INSERT INTO domain_mutes (id, account_id, domain) VALUES (1, ${emil.accountId}, ${domain})`
      const [a, b, c] = [yield* actorOf(dora), yield* actorOf(emil), yield* actorOf(fay)]
      assert.strictEqual(
        yield* deliverFrom(yan, {
          type: "Create",
          object: note(yan, "both", { ...mentioning(a, b), to: [a, b], cc: [] })
        }),
        "ignored: irrelevant to local accounts; changed: a block between its sender and an account that it references"
      )
      yield* deliverFrom(yan, { type: "Create", object: note(yan, "three", mentioning(a, b, c)) })
      const { mentions } = yield* received(fay)
      assert.deepStrictEqual(mentions.map(({ acct }: { acct: string }) => acct), ["fay"])
      for (const by of [dora, emil]) assert.isEmpty(yield* told(by))
    }))

  it.effect("S-103: a silenced account only reaches followers, and its follows are requests", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const [gil, hal, xeno] = [yield* newPerson("gil"), yield* newPerson("hal"), yield* there("xeno")]
      const [me, other] = [yield* actorOf(gil), yield* actorOf(hal)]
      const { id } = yield* found(gil, "xeno")
      yield* json(gil, `/api/v1/accounts/${id}/follow`, {})
      yield* deliverFrom(xeno, { type: "Accept", object: { type: "Follow", actor: me, object: xeno.id } })
      yield* sql`UPDATE accounts SET silenced_at = ${new Date()} WHERE id = ${id}`
      yield* deliverFrom(xeno, { type: "Create", object: note(xeno, "hey", mentioning(me, other)) })
      assert.deepStrictEqual([yield* told(gil), yield* told(hal)], [["mention xeno"], []])
      yield* deliverFrom(xeno, { type: "Follow", object: other })
      assert.strictEqual((yield* json(hal, "/api/v1/follow_requests")).length, 1)
      assert.strictEqual((yield* json(hal, "/api/v1/accounts/verify_credentials")).followers_count, 0)
    }))

  it.effect("S-107: the files of a post that its server deleted are removed at once", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const [ida, will] = [yield* newPerson("ida"), yield* there("will")]
      const me = yield* actorOf(ida)
      const attachment = [{ type: "Document", mediaType: "image/png", url: "https://files.example/a.png" }]
      const object = note(will, "picture", { ...mentioning(me), attachment })
      yield* deliverFrom(will, { type: "Create", object })
      assert.strictEqual((yield* received(ida)).media_attachments.length, 1)
      yield* deliverFrom(will, { type: "Delete", object: object["id"] })
      assert.isEmpty(yield* sql`SELECT FROM media_attachments`)
    }))
})
