import { assert, layer } from "@effect/vitest"
import { Clock, Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { AdminSettings } from "../../../../src/http/staff/wire/AdminSettingsJson.ts"
import { AdminInstanceUpload } from "../../../../src/http/staff/wire/InstanceUpload.ts"
import { Instance, TermsOfService } from "../../../../src/http/wire/Instance.ts"
import { ask, call } from "../../../support/Api.ts"
import { blob, form, picture } from "../../../support/MediaFiles.ts"
import { TestServer } from "../../../support/Server.ts"
import { auditEntries, staffMember } from "../../../support/Staff.ts"

const path = "/api/v1/admin/settings"
const decode = <S extends Schema.ConstraintDecoder<unknown>>(schema: S, value: unknown) =>
  Schema.decodeUnknownEffect(schema, { onExcessProperty: "error" })(value)

layer(TestServer.layer(), { excludeTestServices: true })("settings in the API", (it) => {
  it.effect("S-235: the server's texts are set in one place, and every node shows them at once", () =>
    Effect.gen(function*() {
      const { createPerson } = yield* TestServer
      const by = yield* staffMember("setter", ["manageSettings"])
      yield* createPerson("hostess")
      const { body: before } = yield* ask(by, "GET", path)
      yield* decode(AdminSettings, before)
      const { body, status } = yield* ask(by, "PATCH", path, {
        site_title: "  Star\n lings ",
        site_short_description: "A flock",
        site_extended_description: "<p>Hi<script>alert(1)</script></p>",
        site_contact_email: "us@example.org",
        site_contact_username: "HOSTESS",
        languages: ["de", "en"],
        default_language: "de",
        accent_color: "#A0b1C2",
        registrations_mode: "none",
        closed_registrations_message: "Come **later**",
        require_invite_text: true,
        min_age: 16,
        timelines_access: { live_feeds: { remote: "authenticated" }, hashtag_feeds: { local: "disabled" } },
        storage_budgets: { attachments: 10_000_000_000, emoji: 0 }
      })
      assert.strictEqual(status, 200, JSON.stringify(body))
      yield* decode(AdminSettings, body)
      assert.deepInclude(body, {
        site_title: "Star lings",
        site_extended_description: "<p>Hi</p>",
        site_contact_username: "hostess",
        accent_color: "#a0b1c2",
        default_language: "de",
        registrations_mode: "none",
        min_age: 16,
        storage_budgets: { attachments: 10_000_000_000, profiles: null, emoji: null, cards: null, database: null }
      })
      const { body: instance } = yield* ask(undefined, "GET", "/api/v2/instance")
      yield* decode(Instance, instance)
      assert.deepInclude(instance, { title: "Star lings", description: "A flock", languages: ["de", "en"] })
      assert.deepInclude(instance.registrations, {
        enabled: false,
        approval_required: false,
        message: "<p>Come **later**</p>",
        min_age: 16
      })
      assert.deepStrictEqual(instance.contact.email, "us@example.org")
      assert.deepStrictEqual(instance.contact.account.username, "hostess")
      assert.deepInclude(instance.configuration.timelines_access, {
        live_feeds: { local: "public", remote: "authenticated" },
        hashtag_feeds: { local: "disabled", remote: "public" }
      })
      assert.strictEqual((yield* ask(undefined, "GET", "/nodeinfo/2.0")).body.openRegistrations, false)
      const [entry] = yield* auditEntries(by.accountId)
      assert.deepInclude(entry, { act: "settings update", username: "setter" })
      assert.deepInclude(entry!.before, { site_title: null })
      assert.deepInclude(entry!.after, { site_title: "Star lings", min_age: 16 })
    }))

  it.effect("S-235: pictures of the site are set, shown and removed in the API", () =>
    Effect.gen(function*() {
      const by = yield* staffMember("framer", ["manageSettings"])
      const uploads = "/api/v1/admin/site_uploads"
      const png = yield* Effect.promise(() => picture(600, 600).png().toBuffer())
      const { body: before } = yield* ask(by, "GET", uploads)
      yield* decode(Schema.Array(AdminInstanceUpload), before)
      assert.deepStrictEqual(before.map(({ kind, url }: AdminInstanceUpload) => [kind, url]), [
        ["thumbnail", null],
        ["app_icon", null],
        ["favicon", null]
      ])
      const set = yield* call("PUT", `${uploads}/app_icon`, by.token, form({ file: blob(png) }))
      yield* decode(Schema.Array(AdminInstanceUpload), set.body)
      assert.strictEqual(set.status, 200)
      assert.strictEqual(Object.keys(set.body[1].versions).length, 10)
      const { body: instance } = yield* ask(undefined, "GET", "/api/v2/instance")
      yield* decode(Instance, instance)
      const icons: ReadonlyArray<{ readonly src: string; readonly size: string }> = instance.icon
      assert.strictEqual(icons.length, 9)
      for (const { size, src } of icons) assert.strictEqual(set.body[1].versions[size], src)
      const json = { file: `data:image/png;base64,${Buffer.from(png).toString("base64")}`, description: "us" }
      const thumbnail = yield* call("PUT", `${uploads}/thumbnail`, by.token, json)
      assert.deepInclude(thumbnail.body[0], { kind: "thumbnail", description: "us" })
      const half = yield* call("PUT", `${uploads}/thumbnail`, by.token, { ...json, description: "a\ud800b" })
      assert.deepInclude(half.body[0], { description: "a\ufffdb" }, JSON.stringify(half.body))
      assert.strictEqual((yield* call("PUT", `${uploads}/banner`, by.token, json)).status, 404)
      assert.strictEqual((yield* call("PUT", `${uploads}/favicon`, by.token, {})).status, 422)
      for (const kind of ["app_icon", "thumbnail", "favicon"]) {
        assert.strictEqual((yield* call("DELETE", `${uploads}/${kind}`, by.token)).status, 200)
      }
      assert.deepStrictEqual((yield* ask(by, "GET", uploads)).body, before)
      const [entry] = yield* auditEntries(by.accountId)
      assert.deepInclude(entry, { act: "settings update" })
    }))

  it.effect("S-142 S-235: timelines are visible as staff configure", () =>
    Effect.gen(function*() {
      const { fetch } = yield* TestServer
      const by = yield* staffMember("gate", ["manageSettings"])
      const seer = yield* staffMember("seer", ["viewFeeds"])
      const plain = yield* staffMember("plain", [])
      const text = yield* ask(seer, "POST", "/api/v1/statuses", { status: "gated #gate" })
      const read = (who: typeof seer | undefined, timeline: string) =>
        Effect.map(
          ask(who, "GET", `/api/v1/timelines/${timeline}`),
          ({ body, status }) =>
            status === 200 ? body.map(({ id }: { id: string }) => id).includes(text.body.id) : status
        )
      const all = (timeline: string) =>
        Effect.all([read(undefined, timeline), read(plain, timeline), read(seer, timeline)])
      const set = (live: string, remote = "public") =>
        ask(by, "PATCH", path, {
          timelines_access: { live_feeds: { local: live, remote }, hashtag_feeds: { local: live, remote } }
        })
      yield* set("public")
      assert.deepStrictEqual(yield* all("public"), [true, true, true])
      assert.deepStrictEqual(yield* all("tag/gate"), [true, true, true])
      yield* set("authenticated")
      assert.deepStrictEqual(yield* all("public"), [422, true, true])
      assert.deepStrictEqual(yield* read(undefined, "public?remote=true"), false)
      assert.deepStrictEqual(yield* all("tag/gate"), [422, true, true])
      yield* set("disabled")
      assert.deepStrictEqual(yield* all("public"), [422, false, true])
      assert.deepStrictEqual(yield* all("public?local=true"), [422, false, true])
      assert.deepStrictEqual(yield* all("tag/gate"), [422, false, true])
      assert.strictEqual((yield* fetch("/tags/gate")).status, 401)
      yield* set("public")
    }))

  it.effect("S-235: terms have versions with effective dates, and a changelog", () =>
    Effect.gen(function*() {
      const by = yield* staffMember("lawyer", ["manageSettings"])
      const today = new Date(yield* Clock.currentTimeMillis).toISOString().slice(0, 10)
      const set = (document: object) => ask(by, "PATCH", path, { terms_of_service: document })
      yield* set({ content: "Be kind", effective_date: "2020-01-01" })
      yield* set({ content: "Be kinder", notice: "Kinder than before" })
      const { body } = yield* set({ content: "Be the kindest", effective_date: "2999-12-31" })
      assert.deepStrictEqual(
        body.terms_of_service.map((
          one: { effective_date: string; notice: string }
        ) => [one.effective_date, one.notice]),
        [["2999-12-31", ""], [today, "Kinder than before"], ["2020-01-01", ""]]
      )
      const read = (day = "") =>
        Effect.map(ask(undefined, "GET", `/api/v1/instance/terms_of_service${day}`), ({ body }) => body)
      const now = yield* read()
      yield* decode(TermsOfService, now)
      assert.deepStrictEqual(now, {
        effective_date: today,
        effective: true,
        content: "<p>Be kinder</p>",
        succeeded_by: "2999-12-31"
      })
      assert.deepInclude(yield* read("/2020-01-01"), { effective: true, succeeded_by: today })
      assert.deepInclude(yield* read("/2999-12-31"), { effective: false, succeeded_by: null })
      assert.deepStrictEqual(yield* read("/2021-01-01"), { error: "Record not found" })
      yield* set({ content: "" })
      assert.deepStrictEqual(yield* read(), { error: "Record not found" })
    }))

  it.effect("S-235: invalid input is refused and changes nothing", () =>
    Effect.gen(function*() {
      const by = yield* staffMember("clumsy", ["manageSettings"])
      const wrong: ReadonlyArray<object> = [
        { site_title: "x".repeat(101) },
        { site_contact_email: "nowhere" },
        { site_contact_username: "nobody_here" },
        { languages: ["not a tag"] },
        { languages: Array.from({ length: 21 }, (_, at) => `en-x-a${at}`) },
        { default_language: "??" },
        { accent_color: "red" },
        { registrations_mode: "maybe" },
        { min_age: 121 },
        { min_age: -1 },
        { storage_budgets: { emoji: -1 } },
        { storage_budgets: { database: 2 ** 51 } },
        { timelines_access: { live_feeds: { local: "all" } } },
        { terms_of_service: { content: "x", effective_date: "2026-02-30" } },
        { terms_of_service: { content: "x", notice: "x".repeat(2_001) } },
        { privacy_policy: { content: "x".repeat(200_001) } }
      ]
      const before = (yield* ask(by, "GET", path)).body
      for (const given of wrong) {
        const { body, status } = yield* ask(by, "PATCH", path, { site_short_description: "Wrong", ...given })
        assert.strictEqual(status, 422, JSON.stringify(given).slice(0, 80) + JSON.stringify(body).slice(0, 200))
      }
      assert.deepStrictEqual((yield* ask(by, "GET", path)).body, before)
      assert.deepStrictEqual(yield* auditEntries(by.accountId), [])
      // Half a surrogate pair is invalid: Postgres cannot store it in JSON.
      const half = "a\ud800b"
      const halves = yield* ask(by, "PATCH", path, {
        site_title: half,
        site_extended_description: half,
        closed_registrations_message: half,
        privacy_policy: { content: half, notice: half }
      })
      assert.deepInclude(halves.body, { site_title: "a\ufffdb" }, JSON.stringify(halves.body))
      yield* ask(by, "PATCH", path, { site_title: "", site_extended_description: "", closed_registrations_message: "" })
      const sql = yield* SqlClient.SqlClient
      // Manual settings of an invalid shape count as unset.
      yield* sql`INSERT INTO settings (name, value, updated_at) VALUES ('min_age', '"old"', ${new Date(0)}),
        ('timelines_access', '"all"', ${new Date(0)}) ON CONFLICT (name) DO UPDATE SET value = excluded.value`
      assert.strictEqual((yield* ask(by, "PATCH", path, { accent_color: "" })).body.min_age, null)
    }))
})
