import { assert, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { eventually } from "../support/Eventually.ts"
import { fediverse, outcomes, settled, type TestInstance, type TestUser } from "../support/Fediverse.ts"

const local = (by: TestUser, uri: string) =>
  Effect.map(
    by.ask("GET", `/api/v2/search?resolve=true&type=statuses&q=${encodeURIComponent(uri)}`),
    ({ statuses: [found] }) => found
  )
const Document = Schema.Record(Schema.String, Schema.Any)
/** Fetches a document of a server by its address. */
const read = (at: TestInstance, address: string) =>
  Effect.flatMap(
    at.fetch(new URL(address).pathname, { headers: { accept: "application/activity+json" } }),
    (response) => Effect.promise(() => response.json().then(Schema.decodeUnknownSync(Document)))
  )
/** The post arrived with the quote request. */
const expected = new Set(["done", "ignored: already stored"])
const stateOf = ({ quote }: { quote: { state: string; quoted_status: { uri: string } | null } | null }) =>
  quote === null ? undefined : [quote.state, quote.quoted_status?.uri]

it.live(
  "row 21: a quote of a remote post waits for its author's server, is shown with its stamp to third servers, and ends with it",
  () =>
    Effect.gen(function*() {
      const [here, there, elsewhere] = yield* fediverse(3)
      const instances = [here!, there!, elsewhere!]
      const done = settled(instances)
      const [anna, zoe, max] = [
        yield* here!.person("anna"),
        yield* there!.person("zoe"),
        yield* elsewhere!.person("max")
      ]
      yield* max.follow(anna)
      const post = yield* zoe.post("a post to quote")
      yield* done
      const copy = yield* local(anna, post.uri)
      assert.deepStrictEqual(copy.quote_approval, { automatic: ["public"], manual: [], current_user: "automatic" })
      const quote = yield* anna.post("look", { quoted_status_id: copy.id })
      assert.deepStrictEqual(stateOf(quote), ["pending", undefined])
      yield* done
      const own = () => anna.ask("GET", `/api/v1/statuses/${quote.id}`)
      assert.deepStrictEqual(stateOf(yield* own()), ["accepted", post.uri])
      assert.include(yield* zoe.notifications, "quote anna")
      const quotes = yield* zoe.ask("GET", `/api/v1/statuses/${post.id}/quotes`)
      assert.deepStrictEqual(quotes.map(({ uri }: { uri: string }) => uri), [quote.uri])
      assert.strictEqual((yield* zoe.ask("GET", `/api/v1/statuses/${post.id}`)).quotes_count, 1)

      const document = yield* read(here!, quote.uri)
      assert.deepInclude(document, { quote: post.uri, quoteUri: post.uri, "_misskey_quote": post.uri })
      assert.include(document["content"], `<p class="quote-inline">RE: <a href="${post.url}">`)
      const authorization = document["quoteAuthorization"] ?? ""
      const stamp = yield* read(there!, authorization)
      assert.deepInclude(stamp, {
        id: authorization,
        type: "QuoteAuthorization",
        attributedTo: zoe.uri,
        interactingObject: quote.uri,
        interactionTarget: post.uri
      })
      // A third server fetches both, and shows the quote instead of the link.
      const seen = yield* eventually(
        Effect.andThen(done, local(max, quote.uri)),
        (found) => stateOf(found)?.[0] === "accepted"
      )
      assert.deepStrictEqual(stateOf(seen), ["accepted", post.uri])
      assert.strictEqual(seen.content, "<p>look</p>")

      const known = yield* local(zoe, quote.uri)
      const revoked = yield* zoe.ask("POST", `/api/v1/statuses/${post.id}/quotes/${known.id}/revoke`)
      assert.deepStrictEqual(stateOf(revoked), ["revoked", undefined])
      yield* done
      assert.deepStrictEqual(stateOf(yield* own()), ["revoked", undefined])
      assert.strictEqual((yield* there!.fetch(new URL(authorization).pathname)).status, 404)
      assert.deepStrictEqual(yield* zoe.notifications, [])
      for (const instance of instances) {
        assert.deepStrictEqual((yield* outcomes(instance)).filter((outcome) => !expected.has(outcome ?? "")), [])
      }
    }).pipe(Effect.scoped)
)

it.live(
  "row 21: a forbidden quote is refused at home by the known policy, and otherwise by the post's server",
  () =>
    Effect.gen(function*() {
      const [here, there] = yield* fediverse(2)
      const done = settled([here!, there!])
      const [anna, zoe] = [yield* here!.person("anna"), yield* there!.person("zoe")]
      const post = yield* zoe.post("for friends to quote", { quote_approval_policy: "followers" })
      const copy = yield* local(anna, post.uri)
      assert.deepStrictEqual(copy.quote_approval, { automatic: ["followers"], manual: [], current_user: "denied" })
      const open = yield* zoe.post("open")
      const openCopy = yield* local(anna, open.uri)
      yield* zoe.ask("PUT", `/api/v1/statuses/${open.id}/interaction_policy`, { quote_approval_policy: "nobody" })
      // If the change is unknown here when the quote is written, the server of the post refuses the quote.
      yield* there!.sql`DELETE FROM fanouts`
      const quote = yield* anna.post("look", { quoted_status_id: openCopy.id })
      yield* done
      assert.deepStrictEqual(stateOf(yield* anna.ask("GET", `/api/v1/statuses/${quote.id}`)), ["rejected", undefined])
      assert.deepStrictEqual(yield* zoe.ask("GET", `/api/v1/statuses/${open.id}/quotes`), [])
      yield* anna.follow(zoe)
      yield* done
      const friend = yield* anna.post("look", { quoted_status_id: copy.id })
      yield* done
      assert.deepStrictEqual(stateOf(yield* anna.ask("GET", `/api/v1/statuses/${friend.id}`)), ["accepted", post.uri])
    }).pipe(Effect.scoped)
)
