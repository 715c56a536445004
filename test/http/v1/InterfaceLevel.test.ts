import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { call } from "../../support/Api.ts"
import { filter, newPerson } from "../../support/Filtering.ts"
import { picture, uploaded } from "../../support/MediaFiles.ts"
import { type Person, TestServer } from "../../support/Server.ts"

/** Checks of features by level; a level may be claimed if it and all lower ones work. */
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
    const created = yield* filter(me, { filter_action: "blur", keywords_attributes: [{ keyword: "spider" }] })
    assert.strictEqual(created.filter_action, "blur")
    const { body } = yield* call("POST", "/api/v1/statuses", me.token, { status: "a spider" })
    const { body: shown } = yield* call("GET", `/api/v1/statuses/${body.id}`, me.token)
    assert.strictEqual(shown.filtered[0]?.filter.filter_action, "blur")
  }),
  6: Effect.fnUntraced(function*(me) {
    const other = yield* newPerson
    yield* call("POST", `/api/v1/accounts/${other.accountId}/follow`, me.token)
    const { body } = yield* call("POST", `/api/v1/accounts/${other.accountId}/endorse`, me.token)
    assert.isTrue(body.endorsed)
    const tag = yield* call("POST", "/api/v1/tags/murmuration/feature", me.token)
    assert.isTrue(tag.body.featuring)
  }),
  7: Effect.fnUntraced(function*(me) {
    const other = yield* newPerson
    const { body: quoted } = yield* call("POST", "/api/v1/statuses", other.token, {
      status: "quote me",
      quote_approval_policy: "public"
    })
    assert.strictEqual(quoted.quote_approval.automatic[0], "public")
    const { body } = yield* call("POST", "/api/v1/statuses", me.token, { status: "so", quoted_status_id: quoted.id })
    assert.strictEqual(body.quote.quoted_status.id, quoted.id)
    const revoke = `/api/v1/statuses/${quoted.id}/quotes/${body.id}/revoke`
    assert.strictEqual((yield* call("POST", revoke, other.token)).body.quote.state, "revoked")
    const policy = `/api/v1/statuses/${quoted.id}/interaction_policy`
    const changed = yield* call("PUT", policy, other.token, { quote_approval_policy: "nobody" })
    assert.deepStrictEqual(changed.body.quote_approval.automatic, [])
  }),
  8: Effect.fnUntraced(function*(me) {
    yield* call("PATCH", "/api/v1/profile", me.token, { display_name: "Someone else" })
    assert.strictEqual((yield* call("GET", "/api/v1/profile", me.token)).body.display_name, "Someone else")
    assert.strictEqual((yield* call("DELETE", "/api/v1/profile/avatar", me.token)).status, 200)
  }),
  9: Effect.fnUntraced(function*(me) {
    const { body } = yield* call("POST", "/api/v1/statuses", me.token, { status: "to few", visibility: "direct" })
    const own = (query: string) => call("GET", `/api/v1/accounts/${me.accountId}/statuses${query}`, me.token)
    const [all, open] = [yield* own(""), yield* own("?exclude_direct=true")]
    assert.isTrue(all.body.some(({ id }: { readonly id: string }) => id === body.id))
    assert.isFalse(open.body.some(({ id }: { readonly id: string }) => id === body.id))
  }),
  10: Effect.fnUntraced(function*(me) {
    const other = yield* newPerson
    yield* call("PATCH", "/api/v1/accounts/update_credentials", other.token, { discoverable: true })
    const { body } = yield* call("POST", "/api/v1/collections", me.token, {
      name: "people",
      account_ids: [String(other.accountId)]
    })
    assert.strictEqual(body.collection.item_count, 1)
    const notifications = yield* call("GET", "/api/v2/notifications?supported_types[]=mention", other.token)
    assert.isArray(notifications.body.notification_groups)
    const bytes = yield* Effect.promise(() => picture().png().toBuffer())
    const both = yield* call("POST", "/api/v1/statuses", me.token, {
      media_ids: [(yield* uploaded(me, bytes)).id],
      poll: { options: ["a", "b"], expires_in: 600 }
    })
    assert.deepStrictEqual([both.body.media_attachments.length, both.body.poll.options.length], [1, 2])
  }),
  11: Effect.fnUntraced(function*(me) {
    const { body } = yield* call("PATCH", "/api/v1/accounts/update_credentials", me.token, {
      avatar_description: "a bird"
    })
    assert.strictEqual(body.avatar_description, "a bird")
  })
}

layer(TestServer.layer(), { excludeTestServices: true })("api_versions", (it) => {
  it.effect("S-308: every claimed level of the interface works, and so do those below it", () =>
    Effect.gen(function*() {
      const me = yield* newPerson
      const claimed = (yield* call("GET", "/api/v2/instance", undefined)).body.api_versions.mastodon
      assert.strictEqual(claimed, Math.max(...Object.keys(levels).map(Number)))
      for (const works of Object.values(levels)) yield* works(me)
    }))
})
