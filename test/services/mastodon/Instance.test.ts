import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { json } from "../../support/Api.ts"
import { idOf, rejected, servers, source, transferred } from "../../support/mastodon/Copies.ts"
import { TestServer } from "../../support/Server.ts"

const at = new Date(Date.UTC(2024, 1))
const later = new Date(Date.now() + 86_400_000)

layer(servers, { excludeTestServices: true })("the server itself, copied from Mastodon", (it) => {
  it.effect("keeps its description, rules, announcements, invites, webhooks and relays; rejected rows have a reason", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { fetch } = yield* TestServer
      const from = yield* source("4.5")
      const { insert } = from
      yield* insert("user_roles", { id: 3n, name: "Owner", position: 1_000, permissions: 1n })
      const ada = yield* from.person(idOf(1), "ada", { user: { roleId: 3n } })
      const setting = (name: string, value: string | null) => ({ var: name, value })
      yield* from.token(ada, "read admin:read")
      yield* insert(
        "settings",
        setting("site_title", "--- Birds & friends\n"),
        setting("site_short_description", "--- |-\n  For\n  birds\n"),
        setting("site_extended_description", "--- \"# About\\n\\nWe *like* <3 birds\"\n"),
        setting("site_contact_email", "--- staff@mail.example\n"),
        setting("site_contact_username", "--- '@ada'\n"),
        setting("registrations_mode", "--- approved\n"),
        setting("require_invite_text", "--- true\n"),
        setting("min_age", "--- '16'\n"),
        setting("closed_registrations_message", "--- !ruby/object:Strange {}\n"),
        setting("site_contact_email", "--- no address\n"),
        setting("min_age", "--- old\n"),
        setting("theme", "--- default\n"),
        setting("local_live_feed_access", "--- authenticated\n"),
        setting("remote_topic_feed_access", "--- disabled\n"),
        setting("remote_live_feed_access", "--- friends\n"),
        setting("site_terms", "--- |\n  <h2>Privacy</h2>\n  <script>x</script>\n")
      )
      yield* insert(
        "rules",
        { id: 1n, priority: 2, text: "Be kind", hint: "Always" },
        { id: 2n, priority: 1, text: "No shouting" },
        { id: 3n, text: "Abolished", deletedAt: at },
        { id: 4n, text: "" }
      )
      yield* insert("rule_translations", { ruleId: 1n, language: "de", text: "Sei nett", hint: "Immer" }, {
        ruleId: 99n,
        language: "de",
        text: "x"
      })
      yield* insert(
        "announcements",
        { id: 1n, text: "Party", published: true, publishedAt: at, startsAt: at, endsAt: later, allDay: true },
        { id: 2n, text: "Secret", published: false, scheduledAt: later },
        { id: 3n, text: "Endless", published: true, startsAt: at }
      )
      yield* insert("announcement_reactions", { accountId: ada.id, announcementId: 1n, name: "🎉" }, {
        accountId: ada.id,
        announcementId: 3n,
        name: "🎉"
      })
      yield* insert("announcement_mutes", { accountId: ada.id, announcementId: 1n })
      const invite = (id: bigint, more: object) => ({ id, userId: ada.userId, code: `code${id}`, ...more })
      yield* insert(
        "invites",
        invite(1n, { maxUses: 5, uses: 2, expiresAt: later, autofollow: true }),
        invite(2n, { expiresAt: at }),
        invite(3n, { maxUses: 1, uses: 1 })
      )
      yield* insert(
        "relays",
        {
          id: 1n,
          inboxUrl: "https://relay.example/inbox",
          followActivityId: "https://local.example/follow-1",
          state: 2
        },
        { id: 2n, inboxUrl: "ftp://relay.example", state: 0 }
      )
      yield* insert(
        "terms_of_services",
        { id: 1n, text: "**Terms** of use", changelog: "First", effectiveDate: "2025-01-31", publishedAt: at },
        { id: 2n, text: "a draft" }
      )
      yield* insert(
        "webhooks",
        { id: 1n, url: "https://hook.example/a", events: ["report.created", "unknown.event"], secret: "hook-secret" },
        { id: 2n, url: "https://hook.example/b", events: ["unknown.event"], secret: "x" }
      )
      yield* insert("canonical_email_blocks", { id: 1n, canonicalEmailHash: "ab".repeat(32) }, {
        id: 2n,
        canonicalEmailHash: "short"
      })
      yield* insert("username_blocks", { id: 1n, username: "Adm1n", exact: false }, { id: 2n, username: "no name" })
      yield* transferred(from, "copy")
      yield* transferred(from, "copy")
      assert.deepStrictEqual(
        yield* rejected(from),
        [
          "access to timelines 15",
          "announcements 3",
          "blocks of e-mail addresses 2",
          "blocks of usernames 2",
          "reactions to announcements 2",
          "relays 2",
          "rules 4",
          "settings 9",
          "settings 10",
          "settings 11",
          "translations of rules 2",
          "webhooks 2"
        ]
      )
      const me = { token: "token-of-ada" }
      const instance = yield* json(me, "/api/v2/instance")
      assert.deepInclude(instance, { title: "Birds & friends", description: "For birds" })
      // These are cached in the test's running server.
      assert.deepStrictEqual(
        yield* sql`SELECT name, value FROM settings WHERE name IN ('registrations_mode', 'require_invite_text', 'min_age',
          'timelines_access') ORDER BY name`,
        [
          { name: "min_age", value: 16 },
          { name: "registrations_mode", value: "approval" },
          { name: "require_invite_text", value: true },
          {
            name: "timelines_access",
            value: {
              liveFeeds: { local: "authenticated", remote: "public" },
              hashtagFeeds: { local: "public", remote: "disabled" }
            }
          }
        ]
      )
      assert.strictEqual(instance.contact.email, "staff@mail.example")
      assert.strictEqual(instance.contact.account.username, "ada")
      assert.deepStrictEqual(
        instance.rules.map(({ hint, text }: Record<string, unknown>) => [text, hint]),
        [["No shouting", ""], ["Be kind", "Always"]]
      )
      assert.deepStrictEqual(yield* sql`SELECT translations FROM rules WHERE id = 1`, [{
        translations: { de: { text: "Sei nett", hint: "Immer" } }
      }])
      const about = yield* json(me, "/api/v1/instance/extended_description")
      assert.include(about.content, "<em>like</em> &lt;3 birds")
      const privacy = yield* json(me, "/api/v1/instance/privacy_policy")
      assert.include(privacy.content, "Privacy")
      assert.notInclude(privacy.content, "script")
      const terms = yield* json(me, "/api/v1/instance/terms_of_service")
      assert.deepInclude(terms, { effective_date: "2025-01-31", effective: true })
      assert.include(terms.content, "<strong>Terms</strong>")

      const [party, ...others] = yield* json(me, "/api/v1/announcements?with_dismissed=true")
      assert.deepStrictEqual(others, [])
      assert.deepInclude(party, { id: "1", all_day: true, read: true })
      assert.deepInclude(party.reactions[0], { name: "🎉", count: 1, me: true })
      assert.deepStrictEqual(yield* sql`SELECT scheduled_at, published_at FROM announcements WHERE id = 2`, [{
        scheduledAt: later,
        publishedAt: null
      }])
      assert.deepStrictEqual(yield* sql`SELECT code, uses, autofollow FROM invites`, [
        { code: "code1", uses: 2, autofollow: true }
      ])
      assert.strictEqual((yield* fetch("/invite/code1")).status, 200)
      assert.deepStrictEqual(yield* sql`SELECT inbox_url, state, follow_uri FROM relays`, [{
        inboxUrl: "https://relay.example/inbox",
        state: "accepted",
        followUri: "https://local.example/follow-1"
      }])
      const [hook] = yield* json(me, "/api/v1/admin/webhooks")
      assert.deepInclude(hook, { events: ["report.created"], secret: "hook-secret", enabled: true })
      assert.deepStrictEqual(yield* sql`SELECT normalized_username, exact FROM username_blocks`, [
        { normalizedUsername: "admin", exact: false }
      ])

      yield* from.sql`UPDATE settings SET value = ${"--- ''\n"}, updated_at = ${new Date()} WHERE var = 'min_age'`
      yield* from.sql`UPDATE settings SET value = ${"--- disabled\n"}, updated_at = ${new Date()}
        WHERE var = 'local_live_feed_access'`
      yield* from.sql`UPDATE rules SET deleted_at = ${new Date()}, updated_at = ${new Date()} WHERE id = 2`
      yield* from.sql`UPDATE invites SET uses = 4`
      yield* from.sql`DELETE FROM relays`
      yield* from.sql`DELETE FROM announcement_reactions`
      yield* transferred(from, "delta")
      assert.deepStrictEqual(yield* sql`SELECT name FROM settings WHERE name = 'min_age'`, [])
      assert.deepStrictEqual(yield* sql`SELECT value FROM settings WHERE name = 'timelines_access'`, [{
        value: {
          liveFeeds: { local: "disabled", remote: "public" },
          hashtagFeeds: { local: "public", remote: "disabled" }
        }
      }])
      assert.deepStrictEqual(yield* sql`SELECT id FROM rules WHERE deleted_at IS NULL`, [{ id: 1n }])
      assert.deepStrictEqual(yield* sql`SELECT uses FROM invites`, [{ uses: 4 }])
      assert.deepStrictEqual(yield* sql`SELECT FROM relays`, [])
      assert.deepStrictEqual(yield* sql`SELECT FROM announcement_reactions`, [])
    }))
})
