import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { ask } from "../../../support/Api.ts"
import { TestServer } from "../../../support/Server.ts"
import { locationOf } from "../../../support/TestBrowser.ts"
import { opened } from "./Opened.ts"

layer(TestServer.layer(), { excludeTestServices: true })(
  "filters, people and deletion in the settings",
  (it) => {
    it.effect("filters are created, changed and deleted", () =>
      Effect.gen(function*() {
        const { browser, person, send } = yield* opened("filterer")
        const created = yield* send("/settings/filters", "create", (fields) => {
          fields.set("title", "Sports")
          fields.set("keywords", "football\r\ntennis club")
          fields.set("expires_in", "3600")
        })
        assert.strictEqual(created.status, 303, created.text)
        const path = locationOf(created).pathname
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
        // The expiry was not changed.
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
        const shown = (query: string) =>
          Effect.map(browser.get(`/settings/relationships${query}`), ({ text }) => namesOf(text))
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
        yield* send(
          "/settings/relationships?side=followers",
          "remove",
          (fields) => fields.append("ids[]", String(others[0]!.accountId))
        )
        assert.deepStrictEqual(yield* shown("?side=followers"), [])
        assert.strictEqual((yield* send("/settings/relationships", "unfollow", () => undefined)).status, 422)
      }))

    it.effect("accounts and servers are blocked and muted by name, and unblocked and unmuted", () =>
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
        const { body: [relationship] } = yield* ask(
          person,
          "GET",
          `/api/v1/accounts/relationships?id[]=${other.accountId}`
        )
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
        yield* send("/settings/featured", "addTag", (fields) => fields.set("name", "#Painting"))
        yield* send("/settings/featured", "endorse", (fields) => fields.set("account", "@friend"))
        assert.strictEqual((yield* ask(person, "GET", "/api/v1/featured_tags")).body[0].name, "Painting")
        assert.lengthOf((yield* ask(person, "GET", "/api/v1/endorsements")).body, 1)
        yield* send("/settings/featured", "removeTag", () => undefined)
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
  }
)
