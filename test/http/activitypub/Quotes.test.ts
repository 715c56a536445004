import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { json, newPerson, publish } from "../../support/Api.ts"
import { eventually } from "../../support/Eventually.ts"
import { actorOf, mentioning, there, told } from "./InboxCalls.ts"
import { sentOf } from "./QuoteDocuments.ts"
import { deliverFrom, note, OtherServer, type RemotePerson, send, servers, settled } from "./Sending.ts"

type Json = Record<string, unknown>

const quoteOf = Effect.fnUntraced(function*(uri: string) {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ state: string; legacy: boolean; id: bigint }>`SELECT q.state, q.legacy, s.id FROM quotes q
    JOIN statuses s ON s.id = q.status_id WHERE s.uri = ${uri}`
  return row
})
const stateOf = (uri: string) => Effect.map(quoteOf(uri), (row) => row?.state)

/** Creates a local post and a remote account. */
const scene = Effect.fnUntraced(function*(name: string, policy = "public") {
  const anna = yield* newPerson(`anna${name}`)
  const zoe = yield* there(`zoe${name}`)
  const quoted = yield* publish(anna, "quoted", { quote_approval_policy: policy })
  return { anna, zoe, quoted, actor: yield* actorOf(anna) }
})
const request = (by: RemotePerson, object: string, instrument: unknown, id = `${by.id}/requests/1`) => ({
  id,
  type: "QuoteRequest",
  object,
  instrument
})

layer(servers, { excludeTestServices: true })("quotes by other servers", (it) => {
  it.effect("row 21: a request as Mastodon 4.5 sends it is accepted with a stamp, once, and refused if the policy says so", () =>
    Effect.gen(function*() {
      const { actor, anna, quoted, zoe } = yield* scene("1")
      const quote = note(zoe, "q1", { quote: quoted.uri, quoteUri: quoted.uri, "_misskey_quote": quoted.uri })
      // The Create arrives first, and waits for consent.
      assert.strictEqual(yield* deliverFrom(zoe, { type: "Create", object: quote }), "done")
      assert.strictEqual(yield* stateOf(String(quote["id"])), "pending")
      assert.deepStrictEqual(yield* told(anna), [])
      assert.strictEqual(yield* deliverFrom(zoe, request(zoe, quoted.uri, quote)), "done")
      assert.strictEqual(yield* stateOf(String(quote["id"])), "accepted")
      assert.deepStrictEqual(yield* told(anna), ["quote zoe1"])
      const { id } = (yield* quoteOf(String(quote["id"])))!
      const accept = (yield* sentOf("Accept")).find(({ to }) => String(to) === zoe.id)
      const stamp = `${actor}/quote_authorizations/${id}`
      assert.deepInclude(accept, { actor, result: stamp })
      assert.deepInclude(accept?.["object"], {
        id: `${zoe.id}/requests/1`,
        type: "QuoteRequest",
        instrument: quote["id"]
      })
      // A repeated request gets another response, without another notification.
      yield* deliverFrom(zoe, request(zoe, quoted.uri, quote, `${zoe.id}/requests/2`))
      assert.deepStrictEqual(yield* told(anna), ["quote zoe1"])
      assert.strictEqual((yield* json(anna, `/api/v1/statuses/${quoted.id}`)).quotes_count, 1)
      yield* json(anna, `/api/v1/statuses/${quoted.id}/quotes/${id}/revoke`, {})
      yield* settled
      const revocation = (yield* sentOf("Delete")).find(({ object }) => (object as Json)["id"] === stamp)
      assert.deepInclude(revocation?.["object"], { type: "QuoteAuthorization", interactionTarget: quoted.uri })
      // A new request does not restore revoked consent.
      assert.strictEqual(
        yield* deliverFrom(zoe, request(zoe, quoted.uri, quote, `${zoe.id}/requests/3`)),
        "ignored: the request is refused"
      )
      assert.strictEqual(yield* stateOf(String(quote["id"])), "revoked")

      const mine = yield* publish(anna, "mine alone", { quote_approval_policy: "nobody" })
      const other = note(zoe, "q2", { quote: mine.uri })
      assert.strictEqual(
        yield* deliverFrom(zoe, request(zoe, mine.uri, other, `${zoe.id}/requests/4`)),
        "ignored: the request is refused"
      )
      assert.isUndefined(yield* quoteOf(String(other["id"])))
      const rejects = (yield* sentOf("Reject")).map(({ object }) => (object as Json)["id"])
      assert.includeMembers(rejects, [`${zoe.id}/requests/3`, `${zoe.id}/requests/4`])
    }))

  it.effect("row 21: a request is accepted only for the requester's post that quotes the visible, unblocked post, and for no boost", () =>
    Effect.gen(function*() {
      const { anna, quoted, zoe } = yield* scene("2")
      const eve = yield* there("eve2")
      const theirs = note(zoe, "t1", { quote: quoted.uri })
      yield* deliverFrom(zoe, { type: "Create", object: theirs })
      assert.strictEqual(
        yield* deliverFrom(eve, request(eve, quoted.uri, theirs["id"])),
        "ignored: the request is refused"
      )
      assert.strictEqual(
        yield* deliverFrom(eve, request(eve, quoted.uri, note(eve, "no quote"))),
        "ignored: the request is refused"
      )
      assert.strictEqual(
        yield* deliverFrom(eve, request(eve, quoted.uri, note(eve, "no quote"))),
        "ignored: the request is refused"
      )
      assert.strictEqual(
        yield* deliverFrom(eve, request(eve, `${quoted.uri}1`, theirs["id"], `${eve.id}/requests/9`)),
        "ignored: an unknown post"
      )
      assert.strictEqual(
        yield* deliverFrom(eve, request(eve, quoted.uri, "https://elsewhere.example/1", `${eve.id}/requests/7`)),
        "ignored: an id of another server"
      )
      assert.strictEqual(yield* stateOf(String(theirs["id"])), "pending")
      const secret = yield* publish(anna, "secret", { visibility: "private", quote_approval_policy: "public" })
      const q = note(eve, "q", { quote: secret.uri })
      assert.strictEqual(
        yield* deliverFrom(eve, request(eve, secret.uri, q, `${eve.id}/requests/8`)),
        "ignored: the request is refused"
      )
    }))

  it.effect("row 21: a remote quote counts with a stamp of the quoted author's server that names both posts", () =>
    Effect.gen(function*() {
      const { documents } = yield* OtherServer
      const [zoe, max, eve] = [yield* there("zoe3"), yield* there("max3"), yield* there("eve3")]
      const anna = yield* newPerson("anna3")
      const heard = mentioning(yield* actorOf(anna))
      const serve = (path: string, document: Json) =>
        documents.set(path, { "@context": "https://www.w3.org/ns/activitystreams", ...document })
      const quoted = note(max, "original")
      serve(new URL(String(quoted["id"])).pathname, quoted)
      const verified = Effect.fnUntraced(function*(name: string, stamp: Json, by = max) {
        const address = `${by.id}/stamps/${name}`
        const quote = note(zoe, name, { ...heard, quote: quoted["id"], quoteAuthorization: address })
        serve(new URL(address).pathname, {
          id: address,
          type: "QuoteAuthorization",
          attributedTo: max.id,
          interactingObject: quote["id"],
          interactionTarget: quoted["id"],
          ...stamp
        })
        yield* send(zoe, { type: "Create", object: quote })
        yield* settled
        const sql = yield* SqlClient.SqlClient
        yield* eventually(sql`SELECT FROM errands WHERE kind = 'quote' AND tries < 2`, (rows) => rows.length === 0)
        return yield* stateOf(String(quote["id"]))
      })
      assert.strictEqual(yield* verified("good", {}), "accepted")
      for (
        const [name, stamp] of [
          ["others", { interactingObject: `${zoe.id}/notes/x` }],
          ["target", { interactionTarget: `${max.id}/notes/x` }],
          ["author", { attributedTo: eve.id }],
          ["type", { type: "Note" }],
          ["id", { id: `${max.id}/stamps/elsewhere` }]
        ] as const
      ) assert.strictEqual(yield* verified(name, stamp), "rejected", name)
      // A quote of the author's own post needs no stamp.
      const self = note(max, "self", { quote: quoted["id"] })
      yield* json(anna, `/api/v2/search?resolve=true&type=statuses&q=${encodeURIComponent(String(quoted["id"]))}`)
      serve(new URL(String(self["id"])).pathname, self)
      const found = yield* json(
        anna,
        `/api/v2/search?resolve=true&type=statuses&q=${encodeURIComponent(String(self["id"]))}`
      )
      assert.lengthOf(found.statuses, 1)
      assert.strictEqual(yield* stateOf(String(self["id"])), "accepted")
      // Only the quoted author can revoke it.
      const good = `${max.id}/stamps/good`
      yield* deliverFrom(eve, { type: "Delete", object: good })
      assert.strictEqual(yield* stateOf(`${zoe.id}/notes/good`), "accepted")
      assert.strictEqual(
        yield* deliverFrom(max, { type: "Delete", object: { id: good, type: "QuoteAuthorization" } }),
        "done"
      )
      assert.strictEqual(yield* stateOf(`${zoe.id}/notes/good`), "revoked")
    }))

  it.effect("row 21: quotes in older formats count if anyone may quote; otherwise the text keeps its link", () =>
    Effect.gen(function*() {
      const { anna, quoted, zoe } = yield* scene("4")
      const closed = yield* publish(anna, "closed", { quote_approval_policy: "followers" })
      const link = (uri: string) => ({
        tag: [{
          type: "Link",
          mediaType: "application/ld+json; profile=\"https://www.w3.org/ns/activitystreams\"",
          href: uri,
          name: `RE: ${uri}`
        }]
      })
      const forms: Readonly<Record<string, (uri: string) => Json>> = {
        misskey: (uri) => ({ "_misskey_quote": uri }),
        fedibird: (uri) => ({ quoteUri: uri }),
        url: (uri) => ({ quoteUrl: uri }),
        e232: link
      }
      for (const [name, form] of Object.entries(forms)) {
        const content = (uri: string) =>
          `<p>x<span class="quote-inline"><br><br>RE: <a href="${uri}">${uri}</a></span></p>`
        const open = note(zoe, `${name}-open`, { content: content(quoted.uri), ...form(quoted.uri) })
        const shut = note(zoe, `${name}-shut`, { content: content(closed.uri), ...form(closed.uri) })
        for (const object of [open, shut]) yield* deliverFrom(zoe, { type: "Create", object })
        assert.deepInclude(yield* quoteOf(String(open["id"])), { state: "accepted", legacy: true })
        assert.deepInclude(yield* quoteOf(String(shut["id"])), { state: "pending", legacy: true })
        const shown = Effect.fnUntraced(function*(note: Json) {
          const { id } = (yield* quoteOf(String(note["id"])))!
          return yield* json(anna, `/api/v1/statuses/${id}`)
        })
        const [one, two] = [yield* shown(open), yield* shown(shut)]
        assert.deepStrictEqual([one.content, one.quote.quoted_status.id], ["<p>x</p>", quoted.id], name)
        assert.isNull(two.quote)
        assert.include(two.content, "RE: ")
      }
      assert.strictEqual((yield* json(anna, `/api/v1/statuses/${quoted.id}`)).quotes_count, 4)
      assert.deepStrictEqual(yield* told(anna), Array(4).fill("quote zoe4"))
    }))
})
