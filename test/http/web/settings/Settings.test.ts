import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { ask } from "../../../support/Api.ts"
import { TestServer } from "../../../support/Server.ts"
import { settingsPaths } from "../../../support/SettingsPaths.ts"
import { opened } from "./Opened.ts"

layer(TestServer.layer(), { excludeTestServices: true })("settings of the web client", (it) => {
  it.effect("each page is linked from the list, marked in the navigation, and unchanged after saving", () =>
    Effect.gen(function*() {
      const { browser } = yield* opened("visitor")
      const list = yield* browser.get("/settings")
      assert.match(list.text, /<a href="\/settings" aria-current="page">/)
      const linked = [...list.text.matchAll(/<li><a href="([^"]*)">[^<]/g)].map(([, path]) => path)
      assert.sameMembers(linked, settingsPaths)
      for (const path of settingsPaths) {
        const page = yield* browser.get(path)
        assert.strictEqual(page.status, 200, path)
        assert.strictEqual(page.text.match(/<h1/g)?.length, 1, path)
        assert.include(page.text, `<a href="${path}" aria-current="page">`)
        assert.include(page.text, `<nav class="side"`, path)
        assert.notInclude(page.text, " style=", path)
      }
    }))

  it.effect("a profile is saved with its fields and flags, and the API has it", () =>
    Effect.gen(function*() {
      const { browser, profile, send } = yield* opened("painter")
      const done = yield* send("/settings/profile", "save", (fields) => {
        fields.set("display_name", "Paula <b>Painter</b>")
        fields.set("note", "I paint.")
        fields.set("field_name_0", "Site")
        fields.set("field_value_0", "https://painter.example")
        fields.set("locked", "1")
      })
      assert.strictEqual(done.status, 303, done.text)
      assert.strictEqual(done.headers.get("location"), "/settings/profile")
      const after = yield* browser.get("/settings/profile")
      assert.match(after.text, /class="done"><p>The settings were saved\./)
      assert.include(after.text, `value="Paula &lt;b&gt;Painter&lt;/b&gt;"`)
      assert.include(after.text, "&lt;a rel=&quot;me&quot; href=")
      const saved = yield* profile
      assert.deepStrictEqual(
        [saved.display_name, saved.source.note, saved.locked, saved.source.fields[0].name],
        ["Paula <b>Painter</b>", "I paint.", true, "Site"]
      )
      // Saving an unchanged form changes nothing.
      yield* send("/settings/profile", "save", () => undefined)
      assert.strictEqual((yield* profile).source.note, "I paint.")
    }))

  it.effect("a refused form returns with the input and the API's message", () =>
    Effect.gen(function*() {
      const { profile, send } = yield* opened("verbose")
      const refused = yield* send("/settings/profile", "save", (fields) => {
        fields.set("display_name", "x".repeat(200))
        fields.set("note", "Never lose this.")
        fields.set("bot", "1")
      })
      assert.strictEqual(refused.status, 422)
      assert.match(refused.text, /class="problem" role="alert">[^<]*Display name is too long/)
      assert.include(refused.text, "Never lose this.")
      assert.include(refused.text, "x".repeat(200))
      assert.match(refused.text, /name="bot" value="1" checked/)
      assert.include(refused.text, `<a href="/settings/profile" aria-current="page">`)
      assert.strictEqual((yield* profile).source.note, "")
    }))

  it.effect("posting, reading, privacy and notifications keep their settings, which the API returns", () =>
    Effect.gen(function*() {
      const { browser, person, profile, send } = yield* opened("setter")
      yield* send("/settings/posting", "save", (fields) => {
        fields.set("visibility", "unlisted")
        fields.set("quote_policy", "followers")
        fields.set("language", "de")
        fields.set("sensitive", "1")
      })
      const { source } = yield* profile
      assert.deepStrictEqual([source.privacy, source.quote_policy, source.language, source.sensitive], [
        "unlisted",
        "followers",
        "de",
        true
      ])
      yield* send("/settings/reading", "save", (fields) => {
        fields.set("scheme", "dark")
        fields.set("locale", "de")
        fields.set("media", "show_all")
        fields.set("spoilers", "1")
        fields.append("languages[]", "de")
        fields.append("languages[]", "en")
      })
      const page = yield* browser.get("/settings/reading")
      assert.match(page.text, /<html lang="de" class="dark">/)
      assert.match(page.text, /name="languages\[\]" value="de" checked/)
      const { body } = yield* ask(person, "GET", "/api/v1/preferences")
      assert.deepStrictEqual([body["reading:expand:media"], body["reading:expand:spoilers"]], ["show_all", true])
      yield* send("/settings/privacy", "save", (fields) => {
        fields.delete("show_collections")
        fields.set("discoverable", "1")
        fields.delete("search_engines")
      })
      const hidden = yield* profile
      assert.deepStrictEqual([hidden.source.hide_collections, hidden.discoverable, hidden.noindex], [true, true, true])
      yield* send("/settings/notifications", "save", (fields) => fields.set("bots", "drop"))
      const policy = yield* ask(person, "GET", "/api/v2/notifications/policy")
      assert.strictEqual(policy.body.for_bots, "drop")
      assert.strictEqual(
        (yield* send("/settings/notifications", "save", (fields) => fields.set("bots", "eat"))).status,
        422
      )
    }))

  it.effect("e-mails are chosen in a form, and those to staff are offered only to staff", () =>
    Effect.gen(function*() {
      const { browser, person, send } = yield* opened("reached")
      const path = "/settings/emails"
      const before = yield* browser.get(path)
      assert.notMatch(before.text, /name="types\[\]"[^>]* checked/)
      assert.notInclude(before.text, `value="admin.report"`)
      assert.notInclude(before.text, `name="staff[]"`)
      const done = yield* send(path, "save", (fields) => {
        fields.append("types[]", "mention")
        fields.append("types[]", "admin.report")
        fields.append("types[]", "nonsense")
        fields.append("staff[]", "trends")
      })
      assert.strictEqual(done.status, 303, done.text)
      assert.match((yield* browser.get(path)).text, /name="types\[\]" value="mention" checked/)
      const sql = yield* SqlClient.SqlClient
      const stored = yield* sql`SELECT types, declined FROM email_choices WHERE account_id = ${person.accountId}`
      assert.deepStrictEqual(stored, [{ types: ["mention"], declined: [] }])
      yield* sql`UPDATE users SET role_id = 3 WHERE account_id = ${person.accountId}`
      const asStaff = yield* browser.get(path)
      assert.match(asStaff.text, /name="types\[\]" value="admin.report">/)
      assert.match(asStaff.text, /name="staff\[\]" value="trends" checked/)
      yield* send(path, "save", (fields) => fields.delete("staff[]", "trends"))
      assert.match((yield* browser.get(path)).text, /name="staff\[\]" value="trends">/)
      assert.match((yield* browser.get(path)).text, /name="types\[\]" value="mention" checked/)
    }))

  it.effect("default interaction policies are those of the API, and a policy set by an app is kept", () =>
    Effect.gen(function*() {
      const { browser, person, send } = yield* opened("careful")
      const path = "/api/v1/interaction_policies/defaults"
      yield* ask(person, "PATCH", path, {
        unlisted: { can_reply: { automatic_approval: ["followers", "mutuals"], manual_approval: [] } }
      })
      assert.include((yield* browser.get("/settings/interactions")).text, `selected>As set in an app</option>`)
      yield* send("/settings/interactions", "save", (fields) => {
        fields.set("public.canReply", "followers")
        fields.set("public.canReply.ask", "1")
      })
      const { body } = yield* ask(person, "GET", path)
      assert.deepStrictEqual(body.public.can_reply.manual_approval, ["public"])
      assert.includeMembers(body.public.can_reply.automatic_approval, ["followers"])
      assert.includeMembers(body.unlisted.can_reply.automatic_approval, ["followers", "mutuals"])
      assert.deepStrictEqual(body.public.can_favourite.automatic_approval, ["public"])
    }))
})
