import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { ask, idsOf, newPerson, settled } from "../../support/Api.ts"
import { act, only, reply, requests, response } from "../../support/InteractionCalls.ts"
import { follow } from "../../support/ListCalls.ts"
import { notified, post, quoting, show } from "../../support/QuoteCalls.ts"
import { TestServer } from "../../support/Server.ts"

layer(TestServer.layer(), { excludeTestServices: true })("pending interaction requests", (it) => {
  it.effect("row 21, D-010: a pending reply is invisible to others everywhere; after acceptance everybody sees it", () =>
    Effect.gen(function*() {
      const [anna, ben, cleo] = [yield* newPerson("anna4"), yield* newPerson("ben4"), yield* newPerson("cleo4")]
      yield* follow(cleo, ben)
      yield* follow(cleo, anna)
      yield* settled
      const asked = yield* post(anna, "ask me", only("can_reply", [], ["public"]))
      const { body: held } = yield* reply(ben, asked, "@anna4 @cleo4 may I #heldtag")
      yield* settled
      assert.deepStrictEqual([held.visibility, held.in_reply_to_id, held.mentions], ["direct", asked.id, []])
      const blind = [undefined, cleo]
      for (const by of blind) {
        assert.strictEqual((yield* ask(by, "GET", `/api/v1/statuses/${held.id}`)).status, 404)
        const { body: around } = yield* ask(by, "GET", `/api/v1/statuses/${asked.id}/context`)
        assert.deepStrictEqual(around.descendants, [])
        const { body: his } = yield* ask(by, "GET", `/api/v1/accounts/${ben.accountId}/statuses`)
        assert.deepStrictEqual(his, [])
      }
      assert.notInclude(yield* idsOf(cleo, "/api/v1/timelines/home"), held.id)
      assert.notInclude(yield* idsOf(cleo, "/api/v1/timelines/public"), held.id)
      assert.deepStrictEqual(yield* idsOf(cleo, "/api/v1/timelines/tag/heldtag"), [])
      for (const type of ["mention", "status"]) {
        assert.deepStrictEqual(yield* notified(cleo, type), [])
        assert.deepStrictEqual(yield* notified(anna, type), [])
      }
      assert.strictEqual((yield* show(cleo, asked)).replies_count, 0)
      assert.deepStrictEqual((yield* ask(anna, "GET", "/api/v1/conversations")).body, [])
      // The author of a held reply sees the reply, but cannot edit it or reply to it.
      assert.strictEqual((yield* show(ben, held)).id, held.id)
      assert.strictEqual((yield* ask(ben, "PUT", `/api/v1/statuses/${held.id}`, { status: "other" })).status, 403)
      assert.strictEqual((yield* reply(ben, held)).status, 403)
      // The deciding account is notified.
      assert.deepStrictEqual(yield* notified(anna, "pending.reply"), [["ben4", held.id]])
      const { body: [request, ...more] } = yield* requests(anna)
      assert.deepStrictEqual(more, [])
      assert.deepInclude(request, { type: "reply" })
      assert.deepStrictEqual([request.reply.id, request.status.id, request.account.username], [
        held.id,
        asked.id,
        "ben4"
      ])
      assert.deepStrictEqual((yield* requests(anna, "?replies=false")).body, [])
      assert.strictEqual((yield* requests(anna, "?replies=false&favourites=0&reblogs=false")).status, 400)
      assert.deepStrictEqual((yield* requests(anna, `?status_id=${held.id}`)).body, [])
      assert.strictEqual((yield* requests(anna, `?status_id=${asked.id}`)).body.length, 1)
      assert.deepStrictEqual((yield* requests(anna, "?status_id=x")).body, [])
      for (const by of [ben, cleo]) {
        assert.deepStrictEqual((yield* requests(by)).body, [])
        assert.strictEqual((yield* ask(by, "GET", `/api/v1/interaction_requests/${request.id}`)).status, 404)
        assert.strictEqual((yield* response(by, request.id, "authorize")).status, 404)
        assert.strictEqual((yield* response(by, request.id, "reject")).status, 404)
      }
      const both = yield* Effect.all([response(anna, request.id, "authorize"), response(anna, request.id, "reject")], {
        concurrency: 2
      })
      assert.deepStrictEqual(both.map(({ status }) => status).toSorted(), [200, 404])
      yield* settled
      if (both[0].status === 200) {
        assert.property(both[0].body, "accepted_at")
        const shown = yield* show(undefined, held)
        assert.deepStrictEqual([shown.visibility, shown.mentions.length], ["public", 2])
        assert.strictEqual((yield* show(cleo, asked)).replies_count, 1)
        assert.include(yield* idsOf(cleo, "/api/v1/timelines/home"), held.id)
        assert.deepStrictEqual(yield* idsOf(cleo, "/api/v1/timelines/tag/heldtag"), [held.id])
        assert.deepStrictEqual(yield* notified(cleo, "mention"), [["ben4", held.id]])
      }
      assert.deepStrictEqual(yield* notified(anna, "pending.reply"), [])
      assert.deepStrictEqual((yield* requests(anna)).body, [])
    }))

  it.effect("row 21: a refused or deleted reply, or one of a blocked author, leaves nothing behind", () =>
    Effect.gen(function*() {
      const [anna, ben] = [yield* newPerson("anna5"), yield* newPerson("ben5")]
      const asked = yield* post(anna, "ask me", only("can_reply", [], ["public"]))
      const held = yield* Effect.forEach(
        ["one", "two", "three"],
        (text) => Effect.map(reply(ben, asked, text), ({ body }) => body)
      )
      const { body: all } = yield* requests(anna, "?limit=2")
      assert.strictEqual(all.length, 2)
      const { headers } = yield* requests(anna, "?limit=2&favourites=false")
      assert.include(headers.get("link") ?? "", "favourites=false")
      const rejected = yield* response(anna, all[0].id, "reject")
      assert.property(rejected.body, "rejected_at")
      assert.strictEqual((yield* response(anna, all[0].id, "authorize")).status, 404)
      const detached = yield* show(ben, held[2])
      assert.deepStrictEqual([detached.in_reply_to_id, detached.visibility], [null, "direct"])
      assert.strictEqual((yield* ask(anna, "GET", `/api/v1/statuses/${detached.id}`)).status, 404)
      assert.strictEqual((yield* ask(ben, "DELETE", `/api/v1/statuses/${held[1].id}`)).status, 200)
      yield* settled
      assert.strictEqual((yield* response(anna, all[1].id, "authorize")).status, 404)
      assert.strictEqual((yield* show(anna, asked)).replies_count, 0)
      assert.strictEqual((yield* requests(anna)).body.length, 1)
      const [left] = (yield* requests(anna)).body
      assert.strictEqual((yield* ask(anna, "POST", `/api/v1/accounts/${ben.accountId}/block`)).status, 200)
      assert.deepStrictEqual((yield* requests(anna)).body, [])
      assert.strictEqual((yield* response(anna, left.id, "authorize")).status, 404)
      assert.isNull((yield* show(ben, held[0])).in_reply_to_id)
      assert.strictEqual((yield* show(anna, asked)).replies_count, 0)
    }))

  it.effect("row 21: favourites and boosts wait, too; they count once they are approved, and may be undone before", () =>
    Effect.gen(function*() {
      const [anna, ben, cleo] = [yield* newPerson("anna6"), yield* newPerson("ben6"), yield* newPerson("cleo6")]
      yield* follow(cleo, ben)
      yield* settled
      const asked = yield* post(anna, "ask me", {
        interaction_policy: {
          can_favourite: { manual_approval: ["public"] },
          can_reblog: { manual_approval: ["public"] }
        }
      })
      const marked = yield* act(ben, asked, "favourite")
      assert.deepStrictEqual([marked.body.favourited, marked.body.favourites_count], [true, 0])
      assert.strictEqual((yield* act(ben, asked, "favourite")).status, 200)
      const boosted = yield* act(ben, asked, "reblog")
      assert.deepStrictEqual([boosted.body.reblog.reblogged, boosted.body.reblog.reblogs_count], [true, 0])
      yield* settled
      assert.strictEqual((yield* ask(cleo, "GET", `/api/v1/statuses/${boosted.body.id}`)).status, 404)
      assert.deepStrictEqual(yield* idsOf(cleo, `/api/v1/statuses/${asked.id}/favourited_by`), [])
      assert.deepStrictEqual(yield* idsOf(cleo, `/api/v1/statuses/${asked.id}/reblogged_by`), [])
      assert.deepStrictEqual(yield* idsOf(cleo, "/api/v1/timelines/home"), [])
      assert.deepStrictEqual(yield* notified(anna, "favourite"), [])
      assert.deepStrictEqual(yield* notified(anna, "reblog"), [])
      assert.deepStrictEqual(yield* notified(anna, "pending.favourite"), [["ben6", asked.id]])
      assert.deepStrictEqual(yield* notified(anna, "pending.reblog"), [["ben6", asked.id]])
      const { body: [boost, favourite] } = yield* requests(anna)
      assert.deepStrictEqual([boost.type, favourite.type], ["reblog", "favourite"])
      assert.notProperty(boost, "reply")
      const { body: taken } = yield* act(ben, asked, "unfavourite")
      assert.deepStrictEqual([taken.favourited, taken.favourites_count], [false, 0])
      assert.deepStrictEqual(yield* notified(anna, "pending.favourite"), [])
      assert.strictEqual((yield* response(anna, favourite.id, "authorize")).status, 404)
      yield* act(ben, asked, "favourite")
      const [again] = (yield* requests(anna, "?reblogs=false")).body
      assert.strictEqual((yield* response(anna, again.id, "authorize")).status, 200)
      assert.strictEqual((yield* response(anna, boost.id, "authorize")).status, 200)
      yield* settled
      const shown = yield* show(cleo, asked)
      assert.deepStrictEqual([shown.favourites_count, shown.reblogs_count], [1, 1])
      assert.deepStrictEqual(yield* idsOf(cleo, `/api/v1/statuses/${asked.id}/favourited_by`), [String(ben.accountId)])
      assert.deepStrictEqual(yield* idsOf(cleo, `/api/v1/statuses/${asked.id}/reblogged_by`), [String(ben.accountId)])
      assert.deepStrictEqual(yield* idsOf(cleo, "/api/v1/timelines/home"), [boosted.body.id])
      const { body: undone } = yield* act(ben, asked, "unreblog")
      assert.deepStrictEqual([undone.reblogged, undone.reblogs_count], [false, 0])
      // A refused account stays refused.
      yield* act(cleo, asked, "reblog")
      const [last] = (yield* requests(anna)).body
      yield* response(anna, last.id, "reject")
      yield* settled
      assert.strictEqual((yield* act(cleo, asked, "reblog")).status, 403)
      assert.strictEqual((yield* show(anna, asked)).reblogs_count, 0)
    }))

  it.effect("row 21: a pending reply does not notify the author that it quotes", () =>
    Effect.gen(function*() {
      const [anna, ben, cleo] = [yield* newPerson("anna7"), yield* newPerson("ben7"), yield* newPerson("cleo7")]
      const asked = yield* post(anna, "ask me", only("can_reply", [], ["public"]))
      const quoted = yield* post(cleo, "a thought")
      const held = yield* quoting(ben, quoted, { in_reply_to_id: asked.id })
      yield* settled
      assert.deepStrictEqual(yield* notified(cleo, "quote"), [])
      assert.deepStrictEqual(yield* idsOf(cleo, `/api/v1/statuses/${quoted.id}/quotes`), [])
      const [request] = (yield* requests(anna)).body
      yield* response(anna, request.id, "authorize")
      yield* settled
      assert.deepStrictEqual(yield* notified(cleo, "quote"), [["ben7", held.id]])
      assert.deepStrictEqual(yield* idsOf(cleo, `/api/v1/statuses/${quoted.id}/quotes`), [held.id])
    }))
})
