import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { ask } from "../../../support/Api.ts"
import type { Answer } from "../../../support/Requests.ts"
import { TestServer } from "../../../support/Server.ts"
import { staffBrowser } from "../../../support/StaffBrowser.ts"
import { formsOf, locationOf } from "../../../support/TestBrowser.ts"

const rooms = [
  "/settings/profile",
  "/settings/featured",
  "/settings/privacy",
  "/settings/posting",
  "/settings/interactions",
  "/settings/reading",
  "/settings/notifications",
  "/settings/cleanup",
  "/settings/relationships",
  "/settings/filters",
  "/mutes",
  "/blocks",
  "/domain_blocks",
  "/settings/two_factor_authentication",
  "/oauth/authorized_applications",
  "/invites",
  "/disputes/strikes"
]

/** Returns what a browser sends for the form with this button: its values as they are on the page. */
const filled = (page: Answer, act: string): URLSearchParams => {
  const form = [...page.text.matchAll(/<form method="post"[^>]*>(.*?)<\/form>/gs)]
    .find(([, inside = ""]) => inside.includes(`value="${act}"`))?.[1] ?? ""
  const sent = new URLSearchParams()
  for (const [tag] of form.matchAll(/<input [^>]*>/g)) {
    const name = /name="([^"]*)"/.exec(tag)?.[1] ?? ""
    const value = /value="([^"]*)"/.exec(tag)?.[1] ?? ""
    if (/type="file"/.test(tag) || (/type="checkbox"/.test(tag) && !/ checked/.test(tag))) continue
    sent.append(name, value)
  }
  for (const [, name = "", text = ""] of form.matchAll(/<textarea name="([^"]*)"[^>]*>\n?(.*?)<\/textarea>/gs)) {
    sent.append(name, text)
  }
  for (const [, name = "", inside = ""] of form.matchAll(/<select name="([^"]*)">(.*?)<\/select>/gs)) {
    sent.append(name, /value="([^"]*)" selected/.exec(inside)?.[1] ?? /value="([^"]*)"/.exec(inside)?.[1] ?? "")
  }
  sent.set("act", act)
  return sent
}

layer(TestServer.layer(), { excludeTestServices: true, timeout: "3 minutes" })("settings of the web", (it) => {
  const opened = Effect.fnUntraced(function*(name: string) {
    const { baseUrl, createPerson } = yield* TestServer
    const person = yield* createPerson(name)
    const browser = yield* staffBrowser(person)
    /** Changes fields of a form, and sends it. */
    const send = Effect.fnUntraced(function*(path: string, act: string, change: (fields: URLSearchParams) => void) {
      const page = yield* browser.get(path)
      assert.strictEqual(page.status, 200, page.text)
      const fields = filled(page, act)
      change(fields)
      const { action } = formsOf(page).find(({ acts }) => acts.includes(act))!
      return yield* browser.request(action, { method: "POST", body: fields, headers: { origin: baseUrl } })
    })
    const profile = Effect.map(ask(person, "GET", "/api/v1/accounts/verify_credentials"), ({ body }) => body)
    return { person, browser, send, profile }
  })

  it.effect("each room is reached from the list, names itself in the navigation, and is the same after saving", () =>
    Effect.gen(function*() {
      const { browser } = yield* opened("rooms")
      const list = yield* browser.get("/settings")
      assert.match(list.text, /<a href="\/settings" aria-current="page">/)
      const linked = [...list.text.matchAll(/<li><a href="([^"]*)">[^<]/g)].map(([, path]) => path)
      assert.sameMembers(linked, rooms)
      for (const path of rooms) {
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
      assert.match(after.text, /class="done" role="status"><p>The settings were saved\./)
      assert.include(after.text, `value="Paula &lt;b&gt;Painter&lt;/b&gt;"`)
      assert.include(after.text, `rel="me"`)
      const saved = yield* profile
      assert.deepStrictEqual(
        [saved.display_name, saved.source.note, saved.locked, saved.source.fields[0].name],
        ["Paula <b>Painter</b>", "I paint.", true, "Site"]
      )
      // What the form did not change stays as it was.
      yield* send("/settings/profile", "save", () => undefined)
      assert.strictEqual((yield* profile).source.note, "I paint.")
    }))

  it.effect("a refused form comes back with what was typed and the API's words", () =>
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

  it.effect("posting, reading, privacy and notifications keep their settings, which the API reads", () =>
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
      assert.strictEqual((yield* send("/settings/notifications", "save", (fields) => fields.set("bots", "eat"))).status, 422)
    }))

  it.effect("default interaction policies are those of the API, and a policy of an app is kept", () =>
    Effect.gen(function*() {
      const { browser, person, send } = yield* opened("careful")
      const path = "/api/v1/interaction_policies/defaults"
      yield* ask(person, "PATCH", path, {
        unlisted: { can_reply: { automatic_approval: ["followers", "mutuals"], manual_approval: [] } }
      })
      assert.include((yield* browser.get("/settings/interactions")).text, `<option value="custom" selected>`)
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

  it.effect("filters are made, changed and deleted", () =>
    Effect.gen(function*() {
      const { browser, person, send } = yield* opened("filterer")
      const made = yield* send("/settings/filters", "create", (fields) => {
        fields.set("title", "Sports")
        fields.set("keywords", "football\r\ntennis club")
        fields.set("expires_in", "3600")
      })
      assert.strictEqual(made.status, 303, made.text)
      const path = locationOf(made).pathname
      const { body: [filter] } = yield* ask(person, "GET", "/api/v2/filters")
      assert.strictEqual(path, `/settings/filters/${filter.id}`)
      assert.deepStrictEqual(filter.keywords.map(({ keyword }: { readonly keyword: string }) => keyword), [
        "football",
        "tennis club"
      ])
      assert.isNotNull(filter.expires_at)
      assert.lengthOf(filter.context, 5)
      const saved = yield* send(path, "save", (fields) => {
        fields.set(`remove_${filter.keywords[0].id}`, "1")
        fields.set("keywords", "golf")
        fields.set("action", "hide")
      })
      assert.strictEqual(saved.status, 303, saved.text)
      const { body: changed } = yield* ask(person, "GET", `/api/v2/filters/${filter.id}`)
      assert.deepStrictEqual(changed.keywords.map(({ keyword }: { readonly keyword: string }) => keyword), [
        "tennis club",
        "golf"
      ])
      // The end was not chosen anew.
      assert.strictEqual(changed.expires_at, filter.expires_at)
      const refused = yield* send(path, "save", (fields) => {
        fields.delete("contexts[]")
        fields.set("title", "Still typed")
      })
      assert.strictEqual(refused.status, 422)
      assert.include(refused.text, "Still typed")
      yield* send(path, "remove", () => undefined)
      assert.deepStrictEqual((yield* ask(person, "GET", "/api/v2/filters")).body, [])
      assert.strictEqual((yield* browser.get(path)).status, 404)
    }))

  it.effect("follows are searched and ended together, and followers removed", () =>
    Effect.gen(function*() {
      const { createPerson } = yield* TestServer
      const { browser, person, send } = yield* opened("social")
      const others = [yield* createPerson("anton"), yield* createPerson("berta"), yield* createPerson("carla")]
      for (const { accountId } of others) yield* ask(person, "POST", `/api/v1/accounts/${accountId}/follow`, {})
      yield* ask(others[0]!, "POST", `/api/v1/accounts/${person.accountId}/follow`, {})
      const namesOf = (text: string) => [...text.matchAll(/<bdi>@(\w+)<\/bdi>/g)].map(([, name]) => name)
      const shown = (query: string) => Effect.map(browser.get(`/settings/relationships${query}`), ({ text }) => namesOf(text))
      assert.deepStrictEqual(yield* shown(""), ["carla", "berta", "anton"])
      assert.deepStrictEqual(yield* shown("?order=oldest"), ["anton", "berta", "carla"])
      assert.deepStrictEqual(yield* shown("?q=ERT"), ["berta"])
      assert.deepStrictEqual(yield* shown("?q=%25"), [])
      assert.isBelow((yield* browser.get("/settings/relationships?q=%00")).status, 500)
      assert.deepStrictEqual(yield* shown("?side=mutuals"), ["anton"])
      assert.deepStrictEqual(yield* shown("?side=followers"), ["anton"])
      assert.deepStrictEqual(yield* shown("?state=moved"), [])
      assert.lengthOf(yield* shown("?state=dormant"), 3)
      const done = yield* send("/settings/relationships?q=a", "unfollow", (fields) => {
        fields.append("ids[]", String(others[1]!.accountId))
        fields.append("ids[]", String(others[2]!.accountId))
      })
      assert.strictEqual(done.status, 303, done.text)
      assert.strictEqual(done.headers.get("location"), "/settings/relationships?q=a")
      assert.deepStrictEqual(yield* shown(""), ["anton"])
      yield* send("/settings/relationships?side=followers", "remove", (fields) =>
        fields.append("ids[]", String(others[0]!.accountId)))
      assert.deepStrictEqual(yield* shown("?side=followers"), [])
      assert.strictEqual((yield* send("/settings/relationships", "unfollow", () => undefined)).status, 422)
    }))

  it.effect("accounts and servers are blocked and muted by name, and let go again", () =>
    Effect.gen(function*() {
      const { createPerson } = yield* TestServer
      const { browser, person, send } = yield* opened("blocker")
      const other = yield* createPerson("noisy")
      yield* send("/blocks", "add", (fields) => fields.set("account", "@noisy"))
      assert.lengthOf((yield* ask(person, "GET", "/api/v1/blocks")).body, 1)
      yield* send("/blocks", "end", () => undefined)
      assert.deepStrictEqual((yield* ask(person, "GET", "/api/v1/blocks")).body, [])
      yield* send("/mutes", "add", (fields) => {
        fields.set("account", "noisy")
        fields.set("seconds", "3600")
        fields.set("notifications", "show")
      })
      const { body: [relationship] } = yield* ask(person, "GET", `/api/v1/accounts/relationships?id[]=${other.accountId}`)
      assert.deepStrictEqual([relationship.muting, relationship.muting_notifications], [true, false])
      assert.include((yield* browser.get("/mutes")).text, "Until ")
      const unknown = yield* send("/mutes", "add", (fields) => fields.set("account", "nobody_here"))
      assert.strictEqual(unknown.status, 404)
      assert.include(unknown.text, `value="nobody_here"`)
      yield* send("/domain_blocks?domain=Loud.example", "block", () => undefined)
      assert.deepStrictEqual((yield* ask(person, "GET", "/api/v1/domain_blocks")).body, ["loud.example"])
      // A public suffix must be confirmed.
      const suffix = yield* send("/domain_blocks?domain=co.uk", "block", () => undefined)
      assert.strictEqual(suffix.status, 422)
      yield* send("/domain_blocks?domain=co.uk", "block", (fields) => fields.set("confirmed", "1"))
      assert.lengthOf((yield* ask(person, "GET", "/api/v1/domain_blocks")).body, 2)
      yield* send("/domain_blocks", "unblock", () => undefined)
      assert.lengthOf((yield* ask(person, "GET", "/api/v1/domain_blocks")).body, 1)
    }))

  it.effect("hashtags and accounts are featured", () =>
    Effect.gen(function*() {
      const { createPerson } = yield* TestServer
      const { person, send } = yield* opened("curator")
      const friend = yield* createPerson("friend")
      yield* ask(person, "POST", `/api/v1/accounts/${friend.accountId}/follow`, {})
      yield* send("/settings/featured", "add_tag", (fields) => fields.set("name", "#Painting"))
      yield* send("/settings/featured", "endorse", (fields) => fields.set("account", "@friend"))
      assert.strictEqual((yield* ask(person, "GET", "/api/v1/featured_tags")).body[0].name, "Painting")
      assert.lengthOf((yield* ask(person, "GET", "/api/v1/endorsements")).body, 1)
      yield* send("/settings/featured", "remove_tag", () => undefined)
      yield* send("/settings/featured", "unendorse", () => undefined)
      assert.deepStrictEqual((yield* ask(person, "GET", "/api/v1/featured_tags")).body, [])
      assert.deepStrictEqual((yield* ask(person, "GET", "/api/v1/endorsements")).body, [])
    }))

  it.effect("automated deletion is set, and refuses ages and counts that are not offered", () =>
    Effect.gen(function*() {
      const { browser, send } = yield* opened("tidy")
      const done = yield* send("/settings/cleanup", "save", (fields) => {
        fields.set("enabled", "1")
        fields.set("min_age", "30")
        fields.set("min_favourites", "5")
      })
      assert.strictEqual(done.status, 303, done.text)
      const page = yield* browser.get("/settings/cleanup")
      assert.match(page.text, /name="enabled" value="1" checked/)
      assert.match(page.text, /<option value="30" selected>/)
      for (const [name, value] of [["min_age", "1"], ["min_favourites", "-5"], ["min_reblogs", "many"]] as const) {
        const refused = yield* send("/settings/cleanup", "save", (fields) => fields.set(name, value))
        assert.strictEqual(refused.status, 422, name)
      }
    }))
})
