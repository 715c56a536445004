import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { json, newPerson, publish } from "../../support/Api.ts"
import { actorOf, mentioning, there, told } from "./InboxCalls.ts"
import { sentOf } from "./QuoteDocuments.ts"
import { deliverFrom, note, type RemotePerson, servers, settled } from "./Sending.ts"
import { storedNote } from "./StoredNotes.ts"

type Json = Record<string, unknown>
const everybody = "https://www.w3.org/ns/activitystreams#Public"
const asking = { interaction_policy: { can_reply: { manual_approval: ["public"] } } }

const request = (by: RemotePerson, type: string, object: string, instrument: unknown, number = 1) => ({
  id: `${by.id}/requests/${type}${number}`,
  type,
  object,
  instrument
})
const responses = (type: string, to: RemotePerson) =>
  Effect.map(sentOf(type), (all) => all.filter((one) => String(one["to"]) === to.id))

layer(servers, { excludeTestServices: true })("replies that need consent", (it) => {
  it.effect("row 21: a reply without a request is held, or rejected; one with a request gets a response", () =>
    Effect.gen(function*() {
      const [anna, ben] = [yield* newPerson("anna1"), yield* newPerson("ben1")]
      const [zoe, eve] = [yield* there("zoe1"), yield* there("eve1")]
      const actor = yield* actorOf(anna)
      const asked = yield* publish(anna, "ask me", asking)
      const closed = yield* publish(anna, "no", { interaction_policy: { can_reply: { always: ["author"] } } })
      const heard = mentioning(yield* actorOf(ben))
      const [first, second, no] = ["1", "2", "3"].map((id) =>
        note(zoe, id, { ...heard, inReplyTo: id === "3" ? closed.uri : asked.uri })
      ) as [Json, Json, Json]
      assert.strictEqual(yield* deliverFrom(zoe, { type: "Create", object: first }), "done")
      assert.deepInclude(yield* storedNote(first["id"]), { visibility: "direct" })
      assert.deepStrictEqual(yield* told(ben), [])
      assert.deepStrictEqual(yield* told(anna), ["pending.reply zoe1"])
      assert.strictEqual(yield* deliverFrom(zoe, { type: "Create", object: no }), "ignored: no consent of the author")
      assert.isUndefined(yield* storedNote(no["id"]))
      assert.deepInclude((yield* responses("Reject", zoe))[0], { actor, object: no["id"], target: closed.uri })
      // An edit in the meantime stays hidden, and does not notify the mentioned Ben.
      const edited = { ...first, content: "<p>worse</p>", updated: new Date().toISOString() }
      assert.strictEqual(yield* deliverFrom(zoe, { type: "Update", object: edited }), "done")
      assert.deepStrictEqual(yield* told(ben), [])
      const [waiting] = yield* json(anna, "/api/v1/interaction_requests")
      assert.include(waiting.reply.content, "worse")
      const { status } = yield* Effect.map(
        json(ben, `/api/v1/statuses/${waiting.reply.id}`),
        ({ error }) => ({ status: error })
      )
      assert.strictEqual(status, "Record not found")
      // Other accounts' requests about it have no effect.
      assert.strictEqual(
        yield* deliverFrom(eve, request(eve, "ReplyRequest", asked.uri, { ...first })),
        "ignored: a request for another object"
      )
      assert.strictEqual(
        yield* deliverFrom(zoe, request(zoe, "ReplyRequest", closed.uri, second)),
        "ignored: a request for another object"
      )
      assert.strictEqual(
        yield* deliverFrom(zoe, request(zoe, "ReplyRequest", asked.uri, second["id"], 2)),
        "ignored: a request without its object"
      )
      assert.strictEqual(
        yield* deliverFrom(
          zoe,
          request(zoe, "ReplyRequest", asked.uri, { ...second, id: "https://elsewhere.example/1" }, 3)
        ),
        "ignored: an id of another server"
      )
      assert.strictEqual(
        yield* deliverFrom(zoe, request(zoe, "ReplyRequest", `${asked.uri}1`, second, 4)),
        "ignored: an unknown post"
      )
      assert.strictEqual(yield* deliverFrom(zoe, request(zoe, "ReplyRequest", asked.uri, second, 5)), "done")
      yield* json(anna, `/api/v1/interaction_requests/${waiting.id}/authorize`, {})
      yield* settled
      assert.deepInclude(yield* storedNote(first["id"]), { visibility: "public" })
      assert.include(yield* told(ben), "mention zoe1")
      const [accept] = yield* responses("Accept", zoe)
      assert.deepInclude(accept, { object: first["id"], result: `${actor}/authorizations/${waiting.id}` })
      const [polite] = yield* json(anna, "/api/v1/interaction_requests")
      yield* json(anna, `/api/v1/interaction_requests/${polite.id}/reject`, {})
      yield* settled
      const rejected = (yield* responses("Reject", zoe)).at(-1)
      assert.deepInclude(rejected?.["object"], {
        id: `${zoe.id}/requests/ReplyRequest5`,
        type: "ReplyRequest",
        instrument: second["id"]
      })
      assert.deepInclude(yield* storedNote(second["id"]), { gone: true })
      // Late or repeated: a rejected reply stays rejected.
      assert.strictEqual(yield* deliverFrom(zoe, { type: "Create", object: second }), "ignored: already stored")
      assert.strictEqual(
        yield* deliverFrom(zoe, request(zoe, "ReplyRequest", asked.uri, second, 6)),
        "ignored: a repeated request"
      )
      assert.deepStrictEqual(yield* json(anna, "/api/v1/interaction_requests"), [])
      // Anyone with permission gets consent on request.
      const open = yield* publish(anna, "open")
      const free = note(zoe, "4", { inReplyTo: open.uri })
      assert.strictEqual(yield* deliverFrom(zoe, request(zoe, "ReplyRequest", open.uri, free, 7)), "done")
      assert.deepInclude(yield* storedNote(free["id"]), { visibility: "public" })
      assert.strictEqual((yield* responses("Accept", zoe)).length, 2)
      // A pending reply that its author deletes leaves no request.
      const last = note(zoe, "5", { inReplyTo: asked.uri })
      yield* deliverFrom(zoe, { type: "Create", object: last })
      yield* deliverFrom(zoe, { type: "Delete", object: last["id"] })
      assert.deepStrictEqual(yield* json(anna, "/api/v1/interaction_requests"), [])
      assert.strictEqual((yield* json(anna, `/api/v1/statuses/${asked.id}`)).replies_count, 1)
    }))

  it.effect("row 21: remote likes and boosts wait for approval, count once approved, and can be undone before and after", () =>
    Effect.gen(function*() {
      const anna = yield* newPerson("anna2")
      const zoe = yield* there("zoe2")
      const asked = yield* publish(anna, "ask me", {
        interaction_policy: {
          can_favourite: { manual_approval: ["public"] },
          can_reblog: { manual_approval: ["public"] }
        }
      })
      const like = { id: `${zoe.id}/likes/1`, type: "Like", object: asked.uri }
      const boost = { id: `${zoe.id}/boosts/1`, type: "Announce", object: asked.uri, actor: zoe.id, to: [everybody] }
      const figures = Effect.map(json(anna, `/api/v1/statuses/${asked.id}`), (one) => [
        one.favourites_count,
        one.reblogs_count
      ])
      yield* deliverFrom(zoe, like)
      yield* deliverFrom(zoe, { type: "Undo", object: like })
      assert.deepStrictEqual(yield* json(anna, "/api/v1/interaction_requests"), [])
      yield* deliverFrom(
        zoe,
        request(zoe, "LikeRequest", asked.uri, { ...like, id: `${zoe.id}/likes/2`, actor: zoe.id })
      )
      yield* deliverFrom(zoe, request(zoe, "AnnounceRequest", asked.uri, boost))
      assert.sameMembers(yield* told(anna), ["pending.favourite zoe2", "pending.reblog zoe2"])
      assert.deepStrictEqual(yield* figures, [0, 0])
      for (const { id } of yield* json(anna, "/api/v1/interaction_requests")) {
        yield* json(anna, `/api/v1/interaction_requests/${id}/authorize`, {})
      }
      yield* settled
      assert.deepStrictEqual(yield* figures, [1, 1])
      const accepts = (yield* responses("Accept", zoe)).map(({ object }) => (object as Json)["type"])
      assert.sameMembers(accepts, ["LikeRequest", "AnnounceRequest"])
      yield* deliverFrom(zoe, { type: "Undo", object: { ...like, id: `${zoe.id}/likes/2` } })
      yield* deliverFrom(zoe, { type: "Undo", object: boost })
      assert.deepStrictEqual(yield* figures, [0, 0])
      const closed = yield* publish(anna, "no", {
        interaction_policy: { can_favourite: { always: [] }, can_reblog: { always: [] }, can_reply: {} }
      })
      yield* deliverFrom(zoe, { ...like, id: `${zoe.id}/likes/3`, object: closed.uri })
      yield* deliverFrom(zoe, { ...boost, id: `${zoe.id}/boosts/3`, object: closed.uri })
      assert.deepStrictEqual(yield* told(anna), [])
    }))

  it.effect("row 10, row 21: only the requester can withdraw a request by its id, before the response, in either order", () =>
    Effect.gen(function*() {
      const anna = yield* newPerson("anna6")
      const [zoe, eve] = [yield* there("zoe6"), yield* there("eve6")]
      const asked = yield* publish(anna, "ask me", {
        interaction_policy: {
          can_reply: { manual_approval: ["public"] },
          can_favourite: { manual_approval: ["public"] },
          can_reblog: { manual_approval: ["public"] },
          can_quote: { manual_approval: ["public"] }
        }
      })
      const instruments = {
        ReplyRequest: note(zoe, "reply", { inReplyTo: asked.uri }),
        LikeRequest: { id: `${zoe.id}/likes/6`, type: "Like", actor: zoe.id, object: asked.uri },
        AnnounceRequest: {
          id: `${zoe.id}/boosts/6`,
          type: "Announce",
          actor: zoe.id,
          object: asked.uri,
          to: [everybody]
        },
        QuoteRequest: note(zoe, "quote", { quote: asked.uri })
      } as const
      const waiting = Effect.map(
        json(anna, "/api/v1/interaction_requests"),
        (all) => all.map(({ type }: { readonly type: string }) => type).toSorted()
      )
      const all = ["favourite", "quote", "reblog", "reply"]
      const requests = (number: number) =>
        Object.entries(instruments).map(([type, instrument]) => request(zoe, type, asked.uri, instrument, number))
      for (const one of requests(1)) assert.strictEqual(yield* deliverFrom(zoe, one), "done", one.type)
      assert.deepStrictEqual(yield* waiting, all)
      assert.lengthOf(yield* told(anna), 4)
      for (const one of requests(1)) {
        assert.match(String(yield* deliverFrom(eve, { type: "Undo", object: one.id })), /^ignored/)
        assert.strictEqual(
          yield* deliverFrom(eve, { type: "Undo", object: { ...one, actor: zoe.id } }),
          "ignored: not an activity of the sender"
        )
      }
      assert.deepStrictEqual(yield* waiting, all)
      // By the whole request and by its id alone.
      for (const [place, one] of requests(1).entries()) {
        const object = place % 2 === 0 ? { ...one, actor: zoe.id } : one.id
        assert.strictEqual(yield* deliverFrom(zoe, { type: "Undo", object }), "done", one.type)
        assert.match(String(yield* deliverFrom(zoe, { type: "Undo", object })), /^ignored/)
        assert.lengthOf(yield* waiting, 3 - place)
      }
      assert.deepStrictEqual(yield* told(anna), [])
      assert.deepInclude(yield* storedNote(instruments.ReplyRequest["id"]), { gone: true })
      const figures = Effect.map(
        json(anna, `/api/v1/statuses/${asked.id}`),
        (one) => [one.favourites_count, one.reblogs_count, one.replies_count, one.quotes_count]
      )
      assert.deepStrictEqual(yield* figures, [0, 0, 0, 0])

      // A request that was withdrawn before it arrived is not made; a new request is.
      for (const one of requests(2)) {
        assert.match(String(yield* deliverFrom(zoe, { type: "Undo", object: one.id })), /^ignored/)
        assert.strictEqual(yield* deliverFrom(zoe, one), "ignored: already undone", one.type)
      }
      assert.deepStrictEqual([yield* waiting, yield* told(anna)], [[], []])
      const again = requests(3).filter(({ type }) => type !== "ReplyRequest")
      for (const one of again) assert.strictEqual(yield* deliverFrom(zoe, one), "done", one.type)
      assert.deepStrictEqual(yield* waiting, all.filter((type) => type !== "reply"))

      // Withdrawing a request after the response does not change the response.
      for (const { id } of yield* json(anna, "/api/v1/interaction_requests")) {
        yield* json(anna, `/api/v1/interaction_requests/${id}/authorize`, {})
      }
      yield* settled
      for (const one of again) {
        assert.strictEqual(
          yield* deliverFrom(zoe, { type: "Undo", object: one.id }),
          "ignored: the request was already settled",
          one.type
        )
      }
      assert.deepStrictEqual(yield* figures, [1, 1, 0, 1])
    }))
})
