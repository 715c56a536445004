import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { TestServer } from "../../support/Server.ts"
import { sentOf } from "./QuoteDocuments.ts"
import { done, note, OtherServer, servers } from "./Sending.ts"
import { json, person, post, there } from "./Talking.ts"

const everybody = "https://www.w3.org/ns/activitystreams#Public"

layer(servers, { excludeTestServices: true, timeout: "3 minutes" })("answers to requests to quote", (it) => {
  it.effect("answers to our requests are those of the one who is quoted; forged ones do nothing", () =>
    Effect.gen(function*() {
      const { baseUrl } = yield* TestServer
      const { documents } = yield* OtherServer
      const [zoe, eve] = [yield* there("zoe5"), yield* there("eve5")]
      const anna = yield* person("anna5")
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
      const quote = yield* post(anna, "look", { quoted_status_id: copy.id })
      const shown = Effect.map(json(anna, `/api/v1/statuses/${quote.id}`), ({ quote }) => quote.state)
      const asked = (yield* sentOf("QuoteRequest")).find(({ object }) => object === quoted["id"])
      assert.deepInclude(asked?.["instrument"], { quote: quoted["id"] })
      const accept = (result: string) => ({
        type: "Accept",
        object: { id: asked?.["id"], type: "QuoteRequest" },
        result
      })
      assert.strictEqual(yield* done(eve, accept(`${eve.id}/stamp`)), "ignored: no request of ours")
      assert.strictEqual(yield* done(zoe, accept(`${baseUrl}/stamp`)), "ignored: an id of another server")
      assert.strictEqual(yield* shown, "pending")
      assert.strictEqual(yield* done(zoe, { type: "Accept", object: asked?.["id"], result: `${zoe.id}/stamp` }), "done")
      assert.strictEqual(yield* shown, "accepted")
      assert.strictEqual(yield* done(zoe, { type: "Reject", object: asked?.["id"] }), "done")
      assert.strictEqual(yield* shown, "revoked")
      assert.strictEqual(yield* done(zoe, accept(`${zoe.id}/stamp`)), "ignored: no request of ours")
      // A policy that changes without an edit is taken over.
      yield* done(zoe, {
        type: "Update",
        object: { ...quoted, interactionPolicy: { canQuote: { automaticApproval: zoe.id } } }
      })
      assert.deepStrictEqual((yield* json(anna, `/api/v1/statuses/${copy.id}`)).quote_approval, {
        automatic: [],
        manual: [],
        current_user: "denied"
      })
    }))
})
