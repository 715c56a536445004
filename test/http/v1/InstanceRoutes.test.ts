import { assert, layer } from "@effect/vitest"
import { Clock, Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Account } from "../../../src/http/wire/Account.ts"
import { CustomEmoji } from "../../../src/http/wire/CustomEmoji.ts"
import * as Wire from "../../../src/http/wire/Instance.ts"
import { noteCharactersMax, statusCharactersMax, urlCharactersReserved } from "../../../src/services/html/Text.ts"
import * as ContentLimits from "../../../src/services/instance/ContentLimits.ts"
import { person } from "../../support/People.ts"
import { get, send } from "../../support/Requests.ts"
import { issueToken, user } from "../../support/SignedIn.ts"
import { server } from "../../support/WebServer.ts"

const decode = <S extends Schema.ConstraintDecoder<unknown>>(schema: S) => (value: unknown) =>
  Schema.decodeUnknownEffect(schema, { onExcessProperty: "error" })(value)

const open = [
  "/api/v2/instance",
  "/api/v1/instance",
  "/api/v1/instance/rules",
  "/api/v1/instance/languages",
  "/api/v1/instance/extended_description",
  "/api/v1/instance/privacy_policy",
  "/api/v1/instance/translation_languages"
]
const closable = [
  "/api/v1/instance/peers",
  "/api/v1/instance/activity",
  "/api/v1/peers/search?q=a",
  "/api/v1/custom_emojis"
]

layer(server(), { excludeTestServices: true })("instance", (it) => {
  it.effect("S-093 S-159: emoji that are enabled, listed and local", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const now = new Date(yield* Clock.currentTimeMillis)
      yield* sql`INSERT INTO custom_emojis (id, shortcode, domain, url, static_url, visible_in_picker, disabled, category, created_at)
        VALUES (1, 'bird', NULL, 'https://local.example/b.png', 'https://local.example/b.png', true, false, 'Animals', ${now}),
          (2, 'plain', NULL, 'https://local.example/p.png', 'https://local.example/p.png', true, false, NULL, ${now}),
          (3, 'unlisted', NULL, 'x', 'x', false, false, NULL, ${now}), (4, 'off', NULL, 'x', 'x', true, true, NULL, ${now}),
          (5, 'far', 'b.example', 'x', 'x', true, false, NULL, ${now})`
      const { body } = yield* get("/api/v1/custom_emojis")
      yield* decode(Schema.Array(CustomEmoji))(body)
      assert.deepStrictEqual(body.map(({ category, shortcode }: typeof CustomEmoji.Type) => [shortcode, category]), [
        ["bird", "Animals"],
        ["plain", undefined]
      ])
    }))

  it.effect("S-020 S-160 D-018: v2 has all that clients need, every limit from the constant that enforces it", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const now = new Date(yield* Clock.currentTimeMillis)
      const owner = yield* user("olivia")
      yield* sql`UPDATE users SET role_id = 3, last_seen_at = ${now} WHERE account_id = ${owner}`
      yield* sql`INSERT INTO settings (name, value, updated_at) VALUES ('site_title', '"Starlings"', ${now}),
        ('site_short_description', '"A <flock>"', ${now}), ('contact_email', '"olivia@local.example"', ${now})`
      yield* sql`INSERT INTO document_versions (id, kind, html, effective_on, published_at)
        VALUES (1, 'privacy_policy', '<p>None of your data</p>', '2026-01-01', ${now})`
      yield* sql`INSERT INTO rules (id, text, hint, translations) VALUES (1, 'Be kind', 'Really', '{"de":{"text":"Sei nett","hint":""}}')`
      const { body, headers, status } = yield* get("/api/v2/instance")
      assert.strictEqual(body.source_url, "", "F3: nobody said where the source is")
      assert.strictEqual(status, 200)
      yield* decode(Wire.Instance)(body)
      assert.strictEqual(headers.get("cache-control"), "private, no-store")
      assert.strictEqual(headers.get("deprecation"), null)
      assert.strictEqual(body.domain, "local.example")
      assert.strictEqual(body.title, "Starlings")
      assert.strictEqual(body.contact.account.id, String(owner))
      assert.strictEqual(body.usage.users.active_month, 1)
      assert.strictEqual(body.configuration.urls.streaming, "wss://local.example")
      assert.deepStrictEqual(body.configuration.statuses, {
        max_characters: statusCharactersMax,
        max_media_attachments: ContentLimits.mediaAttachmentsMax,
        characters_reserved_per_url: urlCharactersReserved,
        local_only: true,
        supported_mime_types: ["text/plain", "text/markdown"]
      })
      assert.strictEqual(body.configuration.accounts.max_pinned_statuses, ContentLimits.pinsMax)
      assert.strictEqual(body.configuration.accounts.max_note_length, noteCharactersMax)
      assert.strictEqual(body.configuration.polls.max_expiration, 2_629_746)
      assert.deepStrictEqual(body.configuration.timelines_access.live_feeds, { local: "public", remote: "public" })
      assert.deepStrictEqual(body.registrations, {
        enabled: true,
        approval_required: false,
        reason_required: false,
        message: null,
        min_age: null,
        url: null
      })
      assert.deepStrictEqual(body.rules, [
        { id: "1", text: "Be kind", hint: "Really", translations: { de: { text: "Sei nett", hint: "" } } }
      ])
    }))

  it.effect("S-308: v1 still exists, marked as deprecated", () =>
    Effect.gen(function*() {
      const { body, headers } = yield* get("/api/v1/instance")
      yield* decode(Wire.InstanceV1)(body)
      assert.strictEqual(headers.get("deprecation"), "@1668384000")
      assert.strictEqual(body.uri, "local.example")
      assert.strictEqual(body.short_description, "A <flock>")
      assert.strictEqual(body.description, "A &lt;flock&gt;")
      assert.strictEqual(body.stats.user_count, 1)
      yield* decode(Account)(body.contact_account)
    }))

  it.effect("rules, extended description, privacy policy, terms of service and translations", () =>
    Effect.gen(function*() {
      yield* decode(Schema.Array(Wire.Rule))((yield* get("/api/v1/instance/rules")).body)
      const policy = (yield* get("/api/v1/instance/privacy_policy")).body
      yield* decode(Wire.Document)(policy)
      assert.strictEqual(policy.content, "<p>None of your data</p>")
      assert.deepStrictEqual((yield* get("/api/v1/instance/extended_description")).body, {
        updated_at: null,
        content: ""
      })
      assert.deepStrictEqual((yield* get("/api/v1/instance/terms_of_service")).status, 404)
      assert.deepStrictEqual((yield* get("/api/v1/instance/translation_languages")).body, {})
      const blocks = yield* get("/api/v1/instance/domain_blocks")
      assert.deepStrictEqual([blocks.status, blocks.body], [404, { error: "Record not found" }])
    }))

  it.effect("S-161: languages by code and name", () =>
    Effect.gen(function*() {
      const { body } = yield* get("/api/v1/instance/languages")
      yield* decode(Schema.Array(Wire.Language))(body)
      assert.deepInclude(body, { code: "de", name: "German" })
      assert.strictEqual(new Set(body.map(({ code }: { readonly code: string }) => code)).size, body.length)
      assert.isAbove(body.length, 200)
    }))

  it.effect("S-098 S-126 S-226: activity of twelve weeks, numbers as strings", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const now = new Date(yield* Clock.currentTimeMillis)
      const anna = yield* person("anna")
      yield* sql`INSERT INTO weekly_logins (week, account_id) VALUES (date_trunc('week', ${now}::timestamptz)::date, ${anna})`
      const { body } = yield* get("/api/v1/instance/activity")
      yield* decode(Schema.Array(Wire.Activity))(body)
      assert.strictEqual(body.length, 12)
      assert.strictEqual(body[0].logins, "1")
      assert.strictEqual(new Date(Number(body[0].week) * 1000).getUTCDay(), 1)
      assert.strictEqual(Number(body[0].week) - Number(body[11].week), 11 * 7 * 86_400)
    }))

  it.effect("S-162 S-227: peers, and a search by prefix", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const now = new Date(yield* Clock.currentTimeMillis)
      yield* sql`INSERT INTO accounts (id, username, domain, created_at, updated_at)
        SELECT i, 'u', 'a' || lpad(i::text, 2, '0') || '.example', ${now}, ${now} FROM generate_series(1, 12) i`
      yield* sql`INSERT INTO accounts (id, username, domain, created_at, updated_at)
        VALUES (20, 'u', 'b.example', ${now}, ${now}), (21, 'v', 'b.example', ${now}, ${now})`
      const peers: ReadonlyArray<string> = (yield* get("/api/v1/instance/peers")).body
      assert.strictEqual(peers.length, 13)
      assert.deepStrictEqual((yield* get("/api/v1/peers/search?q=B.ex")).body, ["b.example"])
      assert.strictEqual((yield* get("/api/v1/peers/search?q=a")).body.length, 10)
      assert.deepStrictEqual((yield* get("/api/v1/peers/search?q=%20")).body, [])
      assert.deepStrictEqual((yield* get("/api/v1/peers/search")).body, [])
    }))

  it.effect("S-247: routes without authentication ignore tokens, even invalid ones", () =>
    Effect.gen(function*() {
      for (const path of [...open, ...closable]) assert.strictEqual((yield* get(path, "nonsense")).status, 200, path)
    }))

  it.effect("S-120: HEAD and a slash or .json at the end work, too", () =>
    Effect.gen(function*() {
      assert.strictEqual((yield* send("/api/v2/instance", { method: "HEAD" })).status, 200)
      assert.strictEqual((yield* get("/api/v2/instance/")).status, 200)
      assert.strictEqual((yield* get("/api/v1/instance.json")).status, 200)
    }))
})

layer(server({ limitedFederation: true, registrations: "approval" }), { excludeTestServices: true })(
  "instance, restricted",
  (it) => {
    it.effect("S-020 S-251: public information stays open", () =>
      Effect.gen(function*() {
        for (const path of open) assert.strictEqual((yield* get(path)).status, 200, path)
        const { body } = yield* get("/api/v2/instance")
        assert.strictEqual(body.configuration.limited_federation, true)
        assert.strictEqual(body.configuration.timelines_access.live_feeds.local, "authenticated")
        assert.strictEqual(body.registrations.approval_required, true)
        assert.strictEqual((yield* get("/api/v1/instance/terms_of_service")).status, 404)
      }))

    it.effect("row 68: the rest requires a user", () =>
      Effect.gen(function*() {
        const bearer = yield* issueToken(yield* person("anna"))
        for (const path of [...closable, "/api/v1/instance/domain_blocks"]) {
          const { body, status } = yield* get(path)
          assert.deepStrictEqual([status, body.error], [401, "This method requires an authenticated user"], path)
        }
        assert.strictEqual((yield* get("/api/v1/custom_emojis", bearer)).status, 200)
        for (const path of closable.slice(0, 3)) assert.strictEqual((yield* get(path, bearer)).status, 404, path)
      }))
  }
)
