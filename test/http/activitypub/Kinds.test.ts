import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import type { Json } from "../../services/federation/Peer.ts"
import { json, newPerson } from "../../support/Api.ts"
import { ended, follows, home, serve } from "./Exchange.ts"
import { deliverFrom, note, OtherServer, send, servers, settled } from "./Sending.ts"

const there = (name: string) => OtherServer.use(({ actor }) => actor(name))
const search = (token: string, q: unknown) =>
  Effect.map(
    json({ token }, `/api/v2/search?resolve=true&type=statuses&q=${encodeURIComponent(String(q))}`),
    ({ statuses }) => statuses[0]
  )

layer(servers, { excludeTestServices: true })("posts of every kind", (it) => {
  it.effect("S-009: articles, videos and events of other servers are posts with a title, a summary and a link", () =>
    Effect.gen(function*() {
      const [anna, zoe] = [yield* newPerson("anna"), yield* there("zoe")]
      const { url } = yield* OtherServer
      const kinds = ["Article", "Page", "Video", "Audio", "Image", "Event"]
      for (const type of kinds) {
        const page = `${url}/${type}`
        const object = note(zoe, type, {
          type,
          name: `My ${type}`,
          summary: "in short",
          content: "<p>at length</p>",
          url: page
        })
        yield* serve(object)
        const status = yield* search(anna.token, object["id"])
        assert.deepInclude(status, { uri: object["id"], url: page, spoiler_text: "" }, type)
        assert.match(
          status.content,
          new RegExp(`^<p><strong>My ${type}</strong></p><p>in short</p><p><a href="${page}"`)
        )
        assert.notInclude(status.content, "at length")
      }
    }))

  it.effect("S-196: likes and shares are shown as the origin counts them, and follow it", () =>
    Effect.gen(function*() {
      const [ben, yan] = [yield* newPerson("ben"), yield* there("yan")]
      const counted = (likes: number, shares: number, more: Json = {}) =>
        note(yan, "counted", {
          published: new Date(Date.now() - 3_600_000).toISOString(),
          likes: { type: "Collection", totalItems: likes },
          shares: { type: "Collection", totalItems: shares },
          ...more
        })
      const post = counted(12, 3)
      yield* serve(post)
      const { id } = yield* search(ben.token, post["id"])
      const shown = Effect.map(
        json(ben, `/api/v1/statuses/${id}`),
        ({ favourites_count, reblogs_count }) => [favourites_count, reblogs_count]
      )
      assert.deepStrictEqual(yield* shown, [12, 3])
      // An unchanged version with other counts is not an edit.
      assert.match((yield* deliverFrom(yan, { type: "Update", object: counted(20, 4) })) ?? "", /^ignored: not a newer/)
      assert.deepStrictEqual(yield* shown, [20, 4])
      yield* deliverFrom(yan, {
        type: "Update",
        object: counted(21, 4, { content: "<p>newer</p>", updated: new Date().toISOString() })
      })
      assert.deepStrictEqual(yield* shown, [21, 4])
      assert.isNotNull((yield* json(ben, `/api/v1/statuses/${id}`)).edited_at)
      // Other accounts cannot update it.
      const thief = yield* there("thief")
      yield* deliverFrom(thief, { type: "Update", object: counted(99, 99) })
      assert.deepStrictEqual(yield* shown, [21, 4])
      // Local counts are added, and are a minimum if the origin reports less.
      yield* json(ben, `/api/v1/statuses/${id}/favourite`, {})
      assert.deepStrictEqual(yield* shown, [22, 4])
      yield* deliverFrom(yan, { type: "Update", object: counted(0, 0) })
      assert.deepStrictEqual(yield* shown, [1, 0])
    }))

  it.effect("row 81 F89: odd dates neither keep a post on top nor break anything", () =>
    Effect.gen(function*() {
      const [cleo, xena] = [yield* newPerson("cleo"), yield* there("xena")]
      yield* deliverFrom(xena, { type: "Like", object: "https://nowhere.test/1" })
      yield* follows(cleo.accountId, xena.id)
      const from = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString()
      const noteAt = (name: string, published: unknown) => note(xena, name, { published })
      const [soon, late, old, odd] = [
        noteAt("soon", from(23)),
        noteAt("late", from(25)),
        noteAt("old", "1950-01-01T00:00:00Z"),
        noteAt("odd", "never")
      ]
      for (const object of [soon, old, odd]) {
        yield* send(xena, { type: "Create", object })
        assert.strictEqual(yield* ended, "done")
      }
      assert.match((yield* deliverFrom(xena, { type: "Create", object: late })) ?? "", /^ignored/)
      const mine = yield* json(cleo, "/api/v1/statuses", { status: "newest" })
      yield* settled
      assert.deepStrictEqual<unknown>(yield* home(cleo.token), [mine.uri, odd["id"], soon["id"], old["id"]])
      const shown = yield* search(cleo.token, old["id"])
      assert.strictEqual(Date.parse(shown.created_at), 0)
    }))
})
