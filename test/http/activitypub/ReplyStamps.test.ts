import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { json, newPerson, publish } from "../../support/Api.ts"
import { eventually } from "../../support/Eventually.ts"
import { TestServer } from "../../support/Server.ts"
import { actorOf, mentioning, there } from "./InboxCalls.ts"
import { sentOf } from "./QuoteDocuments.ts"
import { deliverFrom, note, OtherServer, send, servers, settled } from "./Sending.ts"
import { storedNote } from "./StoredNotes.ts"

type Json = Record<string, unknown>
const everybody = "https://www.w3.org/ns/activitystreams#Public"

layer(servers, { excludeTestServices: true })("consent of other servers", (it) => {
  it.effect("row 21: only the account that was asked can respond; revoked consent is removed", () =>
    Effect.gen(function*() {
      const { baseUrl } = yield* TestServer
      const { documents } = yield* OtherServer
      const [zoe, eve] = [yield* there("zoe3"), yield* there("eve3")]
      const anna = yield* newPerson("anna3")
      const manual = { automaticApproval: [zoe.id], manualApproval: [everybody] }
      const theirs = note(zoe, "original", { interactionPolicy: { canReply: manual, canLike: manual } })
      documents.set(new URL(String(theirs["id"])).pathname, {
        "@context": "https://www.w3.org/ns/activitystreams",
        ...theirs
      })
      const search = `/api/v2/search?resolve=true&type=statuses&q=${encodeURIComponent(String(theirs["id"]))}`
      const { statuses: [copy] } = yield* json(anna, search)
      const mine = yield* publish(anna, "may I", { in_reply_to_id: copy.id })
      const sent = (yield* sentOf("ReplyRequest")).find(({ object }) => object === theirs["id"])
      assert.deepInclude(sent?.["instrument"], { id: mine.uri, inReplyTo: theirs["id"], type: "Note" })
      const instrument = sent?.["instrument"] as Json | undefined
      assert.deepInclude(instrument?.["to"], everybody)
      assert.notProperty(sent?.["instrument"], "replyAuthorization")
      const accept = (result: string) => ({
        type: "Accept",
        object: { id: sent?.["id"], type: "ReplyRequest" },
        result
      })
      const shown = Effect.map(
        json(anna, `/api/v1/statuses/${mine.id}`),
        ({ in_reply_to_id: of, visibility }) => [visibility, of]
      )
      assert.strictEqual(
        yield* deliverFrom(eve, accept(`${eve.id}/stamp`)),
        "ignored: no pending request of this server"
      )
      assert.strictEqual(yield* deliverFrom(zoe, accept(`${baseUrl}/stamp`)), "ignored: an id of another server")
      assert.deepStrictEqual(yield* shown, ["direct", copy.id])
      assert.strictEqual(yield* deliverFrom(zoe, accept(`${zoe.id}/stamp`)), "done")
      yield* settled
      assert.deepStrictEqual(yield* shown, ["public", copy.id])
      assert.strictEqual(
        yield* deliverFrom(zoe, accept(`${zoe.id}/other`)),
        "ignored: no pending request of this server"
      )
      yield* deliverFrom(eve, { type: "Delete", object: `${zoe.id}/stamp` })
      assert.deepStrictEqual(yield* shown, ["public", copy.id])
      assert.strictEqual(yield* deliverFrom(zoe, { type: "Delete", object: `${zoe.id}/stamp` }), "done")
      assert.deepStrictEqual(yield* shown, ["public", null])
      yield* json(anna, `/api/v1/statuses/${copy.id}/favourite`, {})
      const liked = (yield* sentOf("LikeRequest")).find(({ object }) => object === theirs["id"])
      assert.strictEqual(
        yield* deliverFrom(zoe, { type: "Accept", object: liked?.["id"], result: `${zoe.id}/stamps/like` }),
        "done"
      )
      yield* settled
      const told = (yield* sentOf("Like")).find(({ object }) => object === theirs["id"])
      assert.deepInclude(told, {
        id: (liked?.["instrument"] as Json | undefined)?.["id"],
        likeAuthorization: `${zoe.id}/stamps/like`
      })
      assert.strictEqual((yield* json(anna, `/api/v1/statuses/${copy.id}`)).favourites_count, 1)
      assert.strictEqual(yield* deliverFrom(zoe, { type: "Reject", object: liked?.["id"] }), "done")
      const after = yield* json(anna, `/api/v1/statuses/${copy.id}`)
      assert.deepStrictEqual([after.favourites_count, after.favourited], [0, false])
    }))

  it.effect("row 21: a remote request undecided for 90 days is dropped", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { documents } = yield* OtherServer
      const zoe = yield* there("zoe9")
      const anna = yield* newPerson("anna9")
      const asks = { automaticApproval: [zoe.id], manualApproval: [everybody] }
      const policy = { canReply: asks, canLike: asks, canAnnounce: asks }
      const theirs = note(zoe, "asking", { interactionPolicy: policy })
      documents.set(new URL(String(theirs["id"])).pathname, {
        "@context": "https://www.w3.org/ns/activitystreams",
        ...theirs
      })
      const search = `/api/v2/search?resolve=true&type=statuses&q=${encodeURIComponent(String(theirs["id"]))}`
      const { statuses: [copy] } = yield* json(anna, search)
      const mine = yield* publish(anna, "may I", { in_reply_to_id: copy.id })
      yield* json(anna, `/api/v1/statuses/${copy.id}/favourite`, {})
      yield* json(anna, `/api/v1/statuses/${copy.id}/reblog`, {})
      yield* sql`UPDATE agenda SET due_at = '2020-01-01' WHERE kind = 'interaction_request' AND account_id = ${anna.accountId}`
      const undone = Effect.map(
        sentOf("Undo"),
        (all) => all.filter(({ actor }) => String(actor).endsWith("/anna9")).map(({ object }): Json => Object(object))
      )
      const ended = yield* eventually(undone, (all) => all.length === 3)
      assert.deepStrictEqual(ended.map(({ type }) => type).toSorted(), ["AnnounceRequest", "Like", "ReplyRequest"])
      const request = (yield* sentOf("ReplyRequest")).find(({ object }) => object === theirs["id"])
      assert.deepInclude(ended.find(({ type }) => type === "ReplyRequest"), {
        id: request?.["id"],
        object: theirs["id"],
        instrument: mine.uri
      })
    }))

  it.effect("row 21: a remote reply to a remote post is shown with a stamp of the author's server that names it", () =>
    Effect.gen(function*() {
      const { documents } = yield* OtherServer
      const [zoe, max, eve] = [yield* there("zoe4"), yield* there("max4"), yield* there("eve4")]
      const anna = yield* newPerson("anna4")
      const serve = (path: string, document: Json) =>
        documents.set(path, { "@context": "https://www.w3.org/ns/activitystreams", ...document })
      const theirs = note(max, "original", {
        interactionPolicy: { canReply: { automaticApproval: `${max.id}/followers`, manualApproval: everybody } },
        ...mentioning(eve.id)
      })
      serve(new URL(String(theirs["id"])).pathname, theirs)
      const search = `/api/v2/search?resolve=true&type=statuses&q=${encodeURIComponent(String(theirs["id"]))}`
      assert.lengthOf((yield* json(anna, search)).statuses, 1)
      const bare = note(zoe, "bare", { inReplyTo: theirs["id"] })
      assert.strictEqual(yield* deliverFrom(zoe, { type: "Create", object: bare }), "ignored: no consent of the author")
      const foreign = note(zoe, "foreign", {
        inReplyTo: theirs["id"],
        replyAuthorization: "https://elsewhere.example/1"
      })
      assert.strictEqual(
        yield* deliverFrom(zoe, { type: "Create", object: foreign }),
        "ignored: no consent of the author"
      )
      // The mentioned account needs no stamp, nor does the author.
      assert.strictEqual(
        yield* deliverFrom(eve, { type: "Create", object: note(eve, "named", { inReplyTo: theirs["id"] }) }),
        "done"
      )
      assert.strictEqual(
        yield* deliverFrom(max, { type: "Create", object: note(max, "self", { inReplyTo: theirs["id"] }) }),
        "done"
      )
      const verified = Effect.fnUntraced(function*(name: string, stamp: Json, word = "replyAuthorization") {
        const address = `${max.id}/stamps/${name}`
        const reply = note(zoe, name, { inReplyTo: theirs["id"], [word]: address })
        serve(new URL(address).pathname, {
          id: address,
          type: "ReplyAuthorization",
          attributedTo: max.id,
          interactingObject: reply["id"],
          interactionTarget: theirs["id"],
          ...stamp
        })
        yield* send(zoe, { type: "Create", object: reply })
        yield* settled
        const sql = yield* SqlClient.SqlClient
        yield* eventually(
          sql`SELECT FROM errands WHERE kind = 'interaction' AND tries < 2`,
          (rows) => rows.length === 0
        )
        const { gone, visibility } = (yield* storedNote(reply["id"]))!
        return gone ? "gone" : visibility
      })
      assert.strictEqual(yield* verified("good", {}), "public")
      assert.strictEqual(yield* verified("older", {}, "approvedBy"), "public")
      for (
        const [name, stamp] of [
          ["others", { interactingObject: `${zoe.id}/notes/x` }],
          ["target", { interactionTarget: `${max.id}/notes/x` }],
          ["author", { attributedTo: eve.id }],
          ["type", { type: "LikeAuthorization" }],
          ["id", { id: `${max.id}/stamps/elsewhere` }]
        ] as const
      ) assert.strictEqual(yield* verified(name, stamp), "gone", name)
      const { descendants } = yield* json(
        anna,
        `/api/v1/statuses/${(yield* json(anna, search)).statuses[0].id}/context`
      )
      assert.lengthOf(descendants, 4)
      // A reply that arrived before its parent is not in the thread without consent.
      const early = note(max, "later", { interactionPolicy: { canReply: { manualApproval: everybody } } })
      yield* deliverFrom(zoe, {
        type: "Create",
        object: note(zoe, "early", { inReplyTo: early["id"], ...mentioning(yield* actorOf(anna)) })
      })
      yield* deliverFrom(max, { type: "Create", object: { ...early, ...mentioning(yield* actorOf(anna)) } })
      assert.deepInclude(yield* storedNote(`${zoe.id}/notes/early`), { replyTo: null })
    }))
})
