import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import type { Json } from "../../services/federation/Peer.ts"
import { json, newPerson, publish } from "../../support/Api.ts"
import { TestServer } from "../../support/Server.ts"
import { there } from "./InboxCalls.ts"
import { sentOf } from "./QuoteDocuments.ts"
import { deliverFrom, note, OtherServer, servers } from "./Sending.ts"

const everybody = "https://www.w3.org/ns/activitystreams#Public"

layer(servers, { excludeTestServices: true })("responses to quote requests", (it) => {
  it.effect("only the quoted author can respond to our requests; forged responses do nothing", () =>
    Effect.gen(function*() {
      const { baseUrl } = yield* TestServer
      const { documents } = yield* OtherServer
      const [zoe, eve] = [yield* there("zoe5"), yield* there("eve5")]
      const anna = yield* newPerson("anna5")
      const policy = { canQuote: { automaticApproval: [], manualApproval: [everybody, `${zoe.id}/x`] } }
      const quoted = note(zoe, "original", { interactionPolicy: policy })
      documents.set(new URL(String(quoted["id"])).pathname, {
        "@context": "https://www.w3.org/ns/activitystreams",
        ...quoted
      })
      const { statuses: [copy] } = yield* json(
        anna,
        `/api/v2/search?resolve=true&type=statuses&q=${encodeURIComponent(String(quoted["id"]))}`
      )
      assert.deepStrictEqual(copy.quote_approval, {
        automatic: [],
        manual: ["public", "unsupported_policy"],
        current_user: "manual"
      })
      const quote = yield* publish(anna, "look", { quoted_status_id: copy.id })
      const shown = Effect.map(json(anna, `/api/v1/statuses/${quote.id}`), ({ quote }) => quote.state)
      const asked = (yield* sentOf("QuoteRequest")).find(({ object }) => object === quoted["id"])
      assert.deepInclude(asked?.["instrument"], { quote: quoted["id"] })
      const accept = (result: string) => ({
        type: "Accept",
        object: { id: asked?.["id"], type: "QuoteRequest" },
        result
      })
      assert.strictEqual(
        yield* deliverFrom(eve, accept(`${eve.id}/stamp`)),
        "ignored: no pending request of this server"
      )
      assert.strictEqual(yield* deliverFrom(zoe, accept(`${baseUrl}/stamp`)), "ignored: an id of another server")
      assert.strictEqual(yield* shown, "pending")
      assert.strictEqual(
        yield* deliverFrom(zoe, { type: "Accept", object: asked?.["id"], result: `${zoe.id}/stamp` }),
        "done"
      )
      assert.strictEqual(yield* shown, "accepted")
      assert.strictEqual(yield* deliverFrom(zoe, { type: "Reject", object: asked?.["id"] }), "done")
      assert.strictEqual(yield* shown, "revoked")
      assert.strictEqual(
        yield* deliverFrom(zoe, accept(`${zoe.id}/stamp`)),
        "ignored: no pending request of this server"
      )
      // A policy that changes without an edit is stored.
      yield* deliverFrom(zoe, {
        type: "Update",
        object: { ...quoted, interactionPolicy: { canQuote: { automaticApproval: zoe.id } } }
      })
      assert.deepStrictEqual((yield* json(anna, `/api/v1/statuses/${copy.id}`)).quote_approval, {
        automatic: [],
        manual: [],
        current_user: "denied"
      })
    }))

  it.effect("row 21: a request waits for the author, however often it is repeated, and gets the author's decision", () =>
    Effect.gen(function*() {
      const zoe = yield* there("zoe6")
      const anna = yield* newPerson("anna6")
      const quoted = yield* publish(anna, "ask me", {
        interaction_policy: { can_quote: { manual_approval: ["public"] } }
      })
      const asks = (name: string, number: number, instrument: unknown) =>
        deliverFrom(zoe, {
          id: `${zoe.id}/requests/${name}${number}`,
          type: "QuoteRequest",
          object: quoted.uri,
          instrument
        })
      const waiting = Effect.map(
        json(anna, "/api/v1/interaction_requests"),
        (all) => all.map(({ id, type }: { id: string; type: string }) => [type, id])
      )
      const [yes, no] = [note(zoe, "yes", { quote: quoted.uri }), note(zoe, "no", { quote: quoted.uri })]
      // A Create alone sends no request.
      assert.strictEqual(yield* deliverFrom(zoe, { type: "Create", object: yes }), "done")
      assert.deepStrictEqual(yield* waiting, [])
      assert.strictEqual(yield* asks("yes", 1, yes), "done")
      assert.strictEqual(yield* asks("yes", 2, yes), "done")
      assert.strictEqual(yield* asks("no", 1, no), "done")
      const all = yield* waiting
      assert.strictEqual(all.length, 2)
      const responsesTo = (type: string) =>
        Effect.map(
          sentOf(type),
          (sent) =>
            sent.filter(({ to }) => String(to) === zoe.id).map(({ object, result }) => [(object as Json)["id"], result])
        )
      assert.deepStrictEqual([yield* responsesTo("Accept"), yield* responsesTo("Reject")], [[], []])
      yield* json(anna, `/api/v1/interaction_requests/${all[1][1]}/authorize`, {})
      yield* json(anna, `/api/v1/interaction_requests/${all[0][1]}/reject`, {})
      const [[asked, stamp]] = (yield* responsesTo("Accept")) as [[string, string]]
      assert.strictEqual(asked, `${zoe.id}/requests/yes2`)
      assert.match(stamp, new RegExp(`/quote_authorizations/${all[1][1]}$`))
      assert.deepStrictEqual(yield* responsesTo("Reject"), [[`${zoe.id}/requests/no1`, undefined]])
      assert.strictEqual((yield* json(anna, `/api/v1/statuses/${quoted.id}`)).quotes_count, 1)
      assert.deepStrictEqual(yield* waiting, [])
      // Repeated requests keep manual consent, and keep refusals.
      yield* asks("yes", 3, yes)
      assert.strictEqual((yield* responsesTo("Accept")).length, 2)
      assert.strictEqual(yield* asks("no", 2, no), "ignored: the request is refused")
    }))
})
