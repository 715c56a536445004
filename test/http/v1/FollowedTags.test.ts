import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { Tag } from "../../../src/http/wire/Tag.ts"
import { ask, idsOf, newPerson, publishedId, settled } from "../../support/Api.ts"
import { follow, forget, home } from "../../support/ListCalls.ts"
import { links } from "../../support/Requests.ts"
import { type Person, TestServer } from "../../support/Server.ts"

const strict = { onExcessProperty: "error" } as const
const path = "/api/v1/followed_tags"
const tag = (by: Person, name: string, verb = "follow") =>
  ask(by, "POST", `/api/v1/tags/${encodeURIComponent(name)}/${verb}`)
const names = ({ body }: { readonly body: ReadonlyArray<Tag> }) => body.map(({ name }) => name)

layer(TestServer.layer(), { excludeTestServices: true })("followed hashtags", (it) => {
  it.effect("are followed in any spelling, listed newest first, and unfollowed; an invalid name is not found", () =>
    Effect.gen(function*() {
      const anna = yield* newPerson("anna1")
      assert.deepStrictEqual((yield* ask(anna, "GET", path)).body, [])
      assert.isFalse((yield* ask(anna, "GET", "/api/v1/tags/Cats")).body.following)
      const followed = yield* tag(anna, "Cats")
      yield* Schema.decodeUnknownEffect(Tag)(followed.body, strict)
      assert.deepInclude(followed.body, { name: "Cats", following: true, featuring: false })
      assert.deepStrictEqual((yield* tag(anna, "CÄTS")).body, followed.body)
      assert.isUndefined((yield* ask(undefined, "GET", "/api/v1/tags/cats")).body.following)
      yield* tag(anna, "cats", "feature")
      assert.deepInclude((yield* tag(anna, "cats")).body, { following: true, featuring: true })
      assert.deepInclude((yield* tag(anna, "cats", "unfeature")).body, { following: true, featuring: false })
      for (const name of ["dogs", "Füchse", "日本語"]) yield* tag(anna, name)
      const all = yield* ask(anna, "GET", path)
      yield* Schema.decodeUnknownEffect(Schema.Array(Tag))(all.body, strict)
      assert.deepStrictEqual(names(all), ["日本語", "Füchse", "dogs", "Cats"])
      const page = yield* ask(anna, "GET", `${path}?limit=3`)
      assert.deepStrictEqual(names(yield* ask(anna, "GET", links(page.headers)["next"]!)), ["Cats"])
      assert.deepStrictEqual((yield* ask(anna, "GET", links(page.headers)["prev"]!)).body, [])
      for (const name of ["12", "no tag", "#", "x".repeat(300)]) {
        for (const verb of ["follow", "unfollow"]) {
          assert.strictEqual((yield* tag(anna, name, verb)).status, 404, `${verb} ${name}`)
        }
      }
      // A character that normalises to eighteen.
      assert.include([200, 404, 422], (yield* tag(anna, "ﷺ".repeat(255))).status)
      const searched = yield* ask(anna, "GET", "/api/v2/search?q=dogs&type=hashtags")
      assert.deepStrictEqual(searched.body.hashtags.map(({ following }: Tag) => following), [true])
      assert.isFalse((yield* tag(anna, "DOGS", "unfollow")).body.following)
      assert.deepInclude((yield* tag(anna, "nobody_says_it", "unfollow")).body, { id: "", following: false })
      assert.notInclude(names(yield* ask(anna, "GET", path)), "dogs")
    }))

  it.effect("bring visible public posts by any author to home, when they arrive and when home is rebuilt", () =>
    Effect.gen(function*() {
      const [anna, ben, cleo, dora] = [
        yield* newPerson("anna2"),
        yield* newPerson("ben2"),
        yield* newPerson("cleo2"),
        yield* newPerson("dora2")
      ]
      yield* follow(anna, cleo, { languages: ["de"] })
      const early = yield* publishedId(ben, "of #birds before")
      yield* tag(anna, "Birds")
      yield* tag(anna, "owls")
      assert.deepStrictEqual(yield* home(anna), [early])
      const stranger = yield* publishedId(ben, "#BIRDS and #owls")
      const friend = yield* publishedId(cleo, "#birds in another language", { language: "en" })
      const both = yield* publishedId(cleo, "#birds in a chosen language", { language: "de" })
      const reply = yield* publishedId(ben, "well, #birds", { in_reply_to_id: both })
      yield* publishedId(ben, "#birds for fewer", { visibility: "unlisted" })
      yield* publishedId(ben, "#birds for followers", { visibility: "private" })
      yield* publishedId(ben, "no tag")
      yield* ask(dora, "POST", `/api/v1/statuses/${stranger}/reblog`)
      const named = yield* publishedId(ben, "@dora2 #birds")
      const mine = yield* publishedId(anna, "my #birds")
      const byDora = yield* publishedId(dora, "#birds, too")
      yield* settled
      const all = [byDora, mine, named, reply, both, friend, stranger, early]
      assert.deepStrictEqual(yield* home(anna), all)
      yield* forget(anna, ben)
      assert.deepStrictEqual(yield* home(anna), all)
      const old = yield* idsOf(anna, `/api/v1/timelines/home?limit=3&max_id=${named}`)
      assert.deepStrictEqual(old, [reply, both, friend])

      // Hidden authors are skipped, and so are posts that mention hidden accounts.
      yield* ask(anna, "POST", `/api/v1/accounts/${dora.accountId}/mute`)
      assert.deepStrictEqual(yield* home(anna), [mine, reply, both, friend, stranger, early])
      yield* ask(ben, "POST", `/api/v1/accounts/${anna.accountId}/block`)
      assert.deepStrictEqual(yield* home(anna), [mine, both, friend])
      yield* publishedId(dora, "#birds unheard")
      yield* publishedId(ben, "#birds unseen")
      yield* settled
      assert.deepStrictEqual(yield* home(anna), [mine, both, friend])
      yield* tag(anna, "birds", "unfollow")
      assert.deepStrictEqual(yield* home(anna), [mine, both])
    }))
})
