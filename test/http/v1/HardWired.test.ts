import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { permissions } from "../../../src/services/staff/Permissions.ts"
import { json, newPerson } from "../../support/Api.ts"
import { eventually, follows, serve } from "../activitypub/Exchange.ts"
import { found, there } from "../activitypub/InboxCalls.ts"
import { OtherServer, servers } from "../activitypub/Sending.ts"

layer(servers, { excludeTestServices: true })("fields with fixed or derived values", (it) => {
  it.effect("F82 D-029: fields without a setting are empty", () =>
    Effect.gen(function*() {
      // Before the first read, which is cached for half a minute.
      const sql = yield* SqlClient.SqlClient
      yield* sql`INSERT INTO custom_emojis (id, shortcode, domain, url, static_url, visible_in_picker, disabled, category, created_at)
        VALUES (1, 'bird', NULL, 'https://x.test/b.png', 'https://x.test/b.png', true, false, 'Animals', ${new Date()})`
      const ada = yield* newPerson("ada6")
      const { configuration, registrations } = yield* json(ada, "/api/v2/instance")
      assert.isNull(configuration.urls.status)
      assert.isNull(registrations.url)
      const [shown] = yield* json(ada, "/api/v1/custom_emojis")
      assert.strictEqual(shown.shortcode, "bird")
      assert.notProperty(shown, "featured")
    }))

  it.effect("F82: group is true for actors of type Group, also if the type is a list", () =>
    Effect.gen(function*() {
      const ada = yield* newPerson("ada1")
      const types: ReadonlyArray<readonly [unknown, boolean, boolean]> = [
        ["Group", true, false],
        [["Group", "https://example.org/ns#Room"], true, false],
        [["https://example.org/ns#Room", "Group"], true, false],
        ["Person", false, false],
        ["Organization", false, false],
        ["Service", false, true],
        ["Application", false, true]
      ]
      for (const [place, [type, group, bot]] of types.entries()) {
        yield* there(`group${place}`, { type })
        assert.deepInclude(yield* found(ada, `group${place}`), { group, bot }, JSON.stringify(type))
      }
      const own = yield* json(ada, "/api/v1/accounts/verify_credentials")
      assert.isFalse(own.group)
    }))

  it.effect("F82: tabs that a remote profile hides are hidden, and shown by default", () =>
    Effect.gen(function*() {
      const ada = yield* newPerson("ada2")
      yield* there("tabs", { showMedia: false, showRepliesInMedia: false, showFeatured: false })
      yield* there("notabs", { showMedia: "no" })
      const shown = { show_media: true, show_media_replies: true, show_featured: true }
      assert.deepInclude(yield* found(ada, "tabs"), {
        show_media: false,
        show_media_replies: false,
        show_featured: false
      })
      assert.deepInclude(yield* found(ada, "notabs"), shown)
    }))

  it.effect("F82: a remote account that hides its followers is marked so, and one without followers is not", () =>
    Effect.gen(function*() {
      const ada = yield* newPerson("ada3")
      const { url } = yield* OtherServer
      const hidden = Effect.fnUntraced(function*(name: string, followers: object, following: object) {
        const id = `${url}/users/${name}`
        yield* there(name, { followers: `${id}/followers`, following: `${id}/following` })
        yield* serve(
          { id: `${id}/followers`, type: "OrderedCollection", ...followers },
          { id: `${id}/following`, type: "OrderedCollection", ...following }
        )
        const account = yield* found(ada, name)
        yield* follows(ada.accountId, id)
        // Viewing the account has its collections fetched.
        yield* json(ada, `/api/v1/accounts/${account.id}`)
        const sql = yield* SqlClient.SqlClient
        yield* eventually(Effect.map(
          sql`SELECT FROM look_ups WHERE kind = 'profile' AND subject_id = ${
            BigInt(account.id)
          } AND ended_at IS NOT NULL`,
          ([row]) => row
        ))
        return (yield* json(ada, `/api/v1/accounts/${account.id}`)).hide_collections
      })
      const open = { totalItems: 3, first: `${url}/page` }
      assert.isTrue(yield* hidden("shy", { totalItems: 3 }, open))
      assert.isFalse(yield* hidden("bold", open, open))
      assert.isFalse(yield* hidden("lone", { totalItems: 0 }, { totalItems: 0, orderedItems: [] }))
    }))

  it.effect("F82: an account with an unconfirmed handle is marked so", () =>
    Effect.gen(function*() {
      const ada = yield* newPerson("ada4")
      const { fingers, domain } = yield* OtherServer
      const zoe = yield* there("nameless")
      fingers.delete(`acct:nameless@${domain}`)
      const { accounts: [account] } = yield* json(
        ada,
        `/api/v2/search?type=accounts&resolve=true&q=${encodeURIComponent(zoe.id)}`
      )
      assert.deepInclude(account, { invalid_handle: true, username: account.id, acct: `${account.id}@handle.invalid` })
      yield* there("named")
      assert.notProperty(yield* found(ada, "named"), "invalid_handle")
    }))

  it.effect("F82: the instance states who may invite people and who may read posts with a trending link", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const ada = yield* newPerson("ada5")
      const enabled = Effect.map(json(ada, "/api/v1/instance"), (instance) => instance.invites_enabled)
      assert.isTrue(yield* enabled)
      yield* sql`UPDATE roles SET permissions = permissions & ~${permissions.inviteUsers}::bigint WHERE id = -99`
      yield* eventually(Effect.map(enabled, (value) => value ? undefined : true))
      const { configuration: { timelines_access: access } } = yield* json(ada, "/api/v2/instance")
      assert.deepStrictEqual(access.trending_link_feeds, access.hashtag_feeds)
    }))
})
