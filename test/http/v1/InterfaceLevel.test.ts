import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { filter, somebody } from "../../support/Filtering.ts"
import { call, picture, uploaded } from "../../support/MediaFiles.ts"
import { type Person, TestServer } from "../../support/Server.ts"

/** What apps may use from a level on; a level is claimed when all of it works, and all of those below. */
const levels: Readonly<Record<number, (me: Person) => Effect.Effect<unknown, unknown, TestServer>>> = {
  2: Effect.fnUntraced(function*(me) {
    assert.isArray((yield* call("GET", "/api/v2/notifications", me.token)).body.notification_groups)
  }),
  3: Effect.fnUntraced(function*(me) {
    const { body } = yield* call("PATCH", "/api/v1/accounts/update_credentials", me.token, {
      attribution_domains: ["example.org"]
    })
    assert.deepStrictEqual(body.source.attribution_domains, ["example.org"])
    const metadata = yield* call("GET", "/.well-known/oauth-authorization-server", undefined)
    assert.deepStrictEqual(metadata.body.code_challenge_methods_supported, ["S256"])
  }),
  4: Effect.fnUntraced(function*(me) {
    const bytes = yield* Effect.promise(() => picture().png().toBuffer())
    const [unused, posted] = [yield* uploaded(me, bytes), yield* uploaded(me, bytes)]
    assert.strictEqual((yield* call("DELETE", `/api/v1/media/${unused.id}`, me.token)).status, 200)
    const { body } = yield* call("POST", "/api/v1/statuses", me.token, { media_ids: [posted.id] })
    assert.strictEqual((yield* call("DELETE", `/api/v1/statuses/${body.id}?delete_media=true`, me.token)).status, 200)
    for (const { id } of [unused, posted]) {
      assert.strictEqual((yield* call("GET", `/api/v1/media/${id}`, me.token)).status, 404)
    }
  }),
  5: Effect.fnUntraced(function*(me) {
    const made = yield* filter(me, { filter_action: "blur", keywords_attributes: [{ keyword: "spider" }] })
    assert.strictEqual(made.filter_action, "blur")
    const { body } = yield* call("POST", "/api/v1/statuses", me.token, { status: "a spider" })
    const { body: shown } = yield* call("GET", `/api/v1/statuses/${body.id}`, me.token)
    assert.strictEqual(shown.filtered[0]?.filter.filter_action, "blur")
  }),
  6: Effect.fnUntraced(function*(me) {
    const other = yield* somebody
    yield* call("POST", `/api/v1/accounts/${other.accountId}/follow`, me.token)
    const { body } = yield* call("POST", `/api/v1/accounts/${other.accountId}/endorse`, me.token)
    assert.isTrue(body.endorsed)
    const tag = yield* call("POST", "/api/v1/tags/murmuration/feature", me.token)
    assert.isTrue(tag.body.featuring)
  })
}

layer(TestServer.layer(), { excludeTestServices: true })("api_versions", (it) => {
  it.effect("S-308: every level of the interface that is claimed works, and so do those below it", () =>
    Effect.gen(function*() {
      const me = yield* somebody
      const claimed = (yield* call("GET", "/api/v2/instance", undefined)).body.api_versions.mastodon
      assert.strictEqual(claimed, Math.max(...Object.keys(levels).map(Number)))
      for (const works of Object.values(levels)) yield* works(me)
    }))
})
