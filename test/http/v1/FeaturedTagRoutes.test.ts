import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { FeaturedTag, Tag } from "../../../src/http/wire/Tag.ts"
import { featuredTagsMax } from "../../../src/services/instance/ContentLimits.ts"
import { ask, newPerson, publish } from "../../support/Api.ts"
import { type Person, TestServer } from "../../support/Server.ts"

const strict = { onExcessProperty: "error" } as const

const feature = (by: Person, name: unknown) => ask(by, "POST", "/api/v1/featured_tags", { name })
const names = ({ body }: { readonly body: ReadonlyArray<{ readonly name: string }> }) => body.map(({ name }) => name)

layer(TestServer.layer(), { excludeTestServices: true })("featured hashtags", (it) => {
  it.effect("S-097 S-165 S-215: are listed by use with their figures, shown to everybody, and removed", () =>
    Effect.gen(function*() {
      const { baseUrl } = yield* TestServer
      const [anna, ben] = [yield* newPerson("anna"), yield* newPerson("ben")]
      for (const text of ["#Cats", "#cats again", "#Dogs #cats"]) yield* publish(anna, text)
      yield* publish(anna, "#dogs #dogs", { visibility: "private" })
      yield* ask(ben, "POST", "/api/v1/statuses", { status: "#cats of another" })
      const suggested = yield* ask(anna, "GET", "/api/v1/featured_tags/suggestions")
      yield* Schema.decodeUnknownEffect(Schema.Array(Tag))(suggested.body, strict)
      assert.deepStrictEqual(names(suggested), ["Cats", "Dogs"])

      yield* feature(anna, "dogs")
      const { body, status } = yield* feature(anna, "#CATS")
      assert.strictEqual(status, 200)
      yield* Schema.decodeUnknownEffect(FeaturedTag)(body, strict)
      const day = new Date().toISOString().slice(0, 10)
      assert.deepInclude(body, {
        name: "CATS",
        url: `${baseUrl}/@anna/tagged/CATS`,
        statuses_count: "3",
        last_status_at: day
      })
      assert.strictEqual((yield* feature(anna, "cats")).body.id, body.id)
      assert.deepStrictEqual(names(yield* ask(anna, "GET", "/api/v1/featured_tags")), ["CATS", "dogs"])
      assert.deepInclude(yield* ask(anna, "GET", "/api/v1/featured_tags/suggestions"), { status: 200, body: [] })
      const shown = yield* ask(undefined, "GET", `/api/v1/accounts/${anna.accountId}/featured_tags`)
      assert.deepStrictEqual(
        shown.body.map((tag: FeaturedTag) => [tag.name, tag.statuses_count]),
        [["CATS", "3"], ["dogs", "1"]]
      )
      const page = yield* (yield* TestServer).fetch("/@anna/tagged/cats")
      const html = yield* Effect.promise(() => page.text())
      assert.strictEqual(page.status, 200)
      assert.strictEqual(html.split(" again</p>").length, 2)
      assert.notInclude(html, "of another")

      assert.strictEqual((yield* ask(ben, "DELETE", `/api/v1/featured_tags/${body.id}`)).status, 404)
      assert.deepInclude(yield* ask(anna, "DELETE", `/api/v1/featured_tags/${body.id}`), { status: 200, body: {} })
      assert.strictEqual((yield* ask(anna, "DELETE", `/api/v1/featured_tags/${body.id}`)).status, 404)
      assert.deepStrictEqual(names(yield* ask(anna, "GET", "/api/v1/featured_tags")), ["dogs"])
    }))

  it.effect("S-215: an invalid hashtag, or one too many, is refused with a message", () =>
    Effect.gen(function*() {
      const cleo = yield* newPerson("cleo")
      const invalid = { status: 422, body: { error: "Validation failed: Tag is invalid" } }
      for (const name of ["", "two words", "123", null]) assert.deepInclude(yield* feature(cleo, name), invalid)
      for (let n = 0; n < featuredTagsMax; n++) assert.strictEqual((yield* feature(cleo, `tag${n}`)).status, 200)
      assert.deepInclude(yield* feature(cleo, "more"), {
        status: 422,
        body: { error: "Validation failed: You have already featured the maximum number of hashtags" }
      })
      assert.strictEqual((yield* feature(cleo, "TAG0")).status, 200)
    }))

  it.effect("S-097: are featured by their name, and marked as featured", () =>
    Effect.gen(function*() {
      const dora = yield* newPerson("dora")
      const of = (verb: string) => ask(dora, "POST", `/api/v1/tags/Birds/${verb}`)
      const featuring = Effect.map(ask(dora, "GET", "/api/v1/tags/birds"), ({ body }) => body.featuring)
      for (
        const [verb, yes] of [["feature", true], ["feature", true], ["unfeature", false], ["unfeature", false]] as const
      ) {
        const { body, status } = yield* of(verb)
        assert.deepStrictEqual([status, body.featuring, yield* featuring], [200, yes, yes])
      }
      assert.strictEqual((yield* ask(dora, "POST", "/api/v1/tags/two%20words/feature")).status, 404)
      yield* of("feature")
      const found = yield* ask(dora, "GET", "/api/v2/search?type=hashtags&q=birds")
      assert.isTrue(found.body.hashtags[0].featuring)
      const sql = yield* SqlClient.SqlClient
      assert.isEmpty(yield* sql`SELECT FROM fanouts`)
    }))
})
