import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { ask, publishedId } from "../../support/Api.ts"
import { TestServer } from "../../support/Server.ts"
import { staffBrowser } from "../../support/StaffBrowser.ts"
import { formsOf, locationOf, type Page } from "../../support/TestBrowser.ts"

layer(TestServer.layer(), { excludeTestServices: true })("timelines in the web client", (it) => {
  it.effect("lead visitors to sign in and back, and members to Home", () =>
    Effect.gen(function*() {
      const { createPerson } = yield* TestServer
      const ada = yield* createPerson("ada")
      const browser = yield* staffBrowser()
      const away = yield* browser.get("/bookmarks?max_id=5")
      assert.strictEqual(away.status, 302)
      assert.strictEqual(locationOf(away).searchParams.get("return_to"), "/bookmarks?max_id=5")
      const signedIn = yield* browser.signIn("ada", yield* browser.follow(away), ada.password)
      assert.strictEqual(locationOf(signedIn).pathname + locationOf(signedIn).search, "/bookmarks?max_id=5")
      const other = yield* staffBrowser(ada)
      assert.strictEqual(locationOf(yield* other.get("/")).pathname, "/home")
      assert.strictEqual((yield* other.get("/home")).status, 200)
    }))

  it.effect("show, favourite, boost and bookmark posts by forms, and return to the post", () =>
    Effect.gen(function*() {
      const { createPerson } = yield* TestServer
      const [bob, cleo] = [yield* createPerson("bob"), yield* createPerson("cleo")]
      yield* ask(bob, "POST", `/api/v1/accounts/${cleo.accountId}/follow`, {})
      const id = yield* publishedId(cleo, "Good <b>morning</b>", { spoiler_text: "A greeting" })
      const browser = yield* staffBrowser(bob)
      let page = yield* browser.get("/home")
      assert.include(page.text, "Good &lt;b&gt;morning&lt;/b&gt;")
      assert.match(page.text, new RegExp(`<article id="status-${id}" class="status" aria-label="cleo, A greeting"`))
      assert.match(page.text, /<summary dir="auto">A greeting<\/summary>/)
      for (const act of ["favourite", "reblog", "bookmark"]) {
        const done = yield* browser.press(page, act)
        assert.strictEqual(done.status, 303, done.text)
        assert.strictEqual(done.headers.get("location"), `/home#status-${id}`)
        page = yield* browser.get("/home")
        assert.include(page.text, `value="un${act}"`)
      }
      const { body } = yield* ask(bob, "GET", `/api/v1/statuses/${id}`)
      assert.deepStrictEqual([body.favourited, body.reblogged, body.bookmarked], [true, true, true])
      assert.include((yield* browser.get("/bookmarks")).text, `status-${id}`)
      assert.include((yield* browser.get("/favourites")).text, `status-${id}`)
      for (const act of ["unfavourite", "unreblog", "unbookmark"]) {
        yield* browser.press(yield* browser.get("/bookmarks"), act)
        page = yield* browser.get("/home")
      }
      assert.notInclude(page.text, `value="unfavourite"`)
      // A script gets only the article.
      const form = formsOf(page).find(({ action }) => action === `/web/statuses/${id}`)!
      const part = yield* browser.request(form.action, {
        method: "POST",
        body: new URLSearchParams({ ...form.fields, act: "favourite" }),
        headers: { origin: (yield* TestServer).baseUrl, "x-murmuration-part": "status" }
      })
      assert.strictEqual(part.status, 200)
      assert.match(part.text, new RegExp(`^<article id="status-${id}"`))
    }))

  it.effect("refuse actions without the token, and return addresses on other servers", () =>
    Effect.gen(function*() {
      const { baseUrl, createPerson } = yield* TestServer
      const dora = yield* createPerson("dora")
      const id = yield* publishedId(dora, "mine")
      const browser = yield* staffBrowser(dora)
      const page = yield* browser.get("/home")
      const form = formsOf(page).find(({ action }) => action === `/web/statuses/${id}`)!
      const send = (fields: Record<string, string>) =>
        browser.request(form.action, {
          method: "POST",
          body: new URLSearchParams(fields),
          headers: { origin: baseUrl }
        })
      assert.strictEqual((yield* send({ act: "favourite" })).status, 403)
      for (const back of ["//evil.example/", "https://evil.example/", "/\\evil.example", "javascript:alert(1)"]) {
        const done = yield* send({ ...form.fields, act: "favourite", return: back })
        assert.strictEqual(done.headers.get("location"), `/home#status-${id}`, back)
      }
    }))

  it.effect("keep the switches of Home in the user's settings", () =>
    Effect.gen(function*() {
      const { createPerson } = yield* TestServer
      const [erik, frida, gerd] = [
        yield* createPerson("erik"),
        yield* createPerson("frida"),
        yield* createPerson("gerd")
      ]
      yield* ask(erik, "POST", `/api/v1/accounts/${frida.accountId}/follow`, {})
      yield* ask(erik, "POST", `/api/v1/accounts/${gerd.accountId}/follow`, {})
      const root = yield* publishedId(gerd, "the root")
      const reply = yield* publishedId(frida, "@gerd a reply", { in_reply_to_id: root })
      const browser = yield* staffBrowser(erik)
      const shows = (text: string) => text.includes(`id="status-${reply}"`)
      assert.isTrue(shows((yield* browser.get("/home")).text))
      yield* browser.press(yield* browser.get("/home"), "hide_replies")
      assert.isFalse(shows((yield* browser.get("/home")).text))
      // Another browser of the same user has the same switches; the API is unchanged.
      assert.isFalse(shows((yield* (yield* staffBrowser(erik)).get("/home")).text))
      const home = yield* ask(erik, "GET", "/api/v1/timelines/home")
      assert.include(home.body.map(({ id }: { readonly id: string }) => id), reply)
      const without = yield* ask(erik, "GET", "/api/v1/timelines/home?exclude_replies=true&exclude_reblogs=true")
      assert.notInclude(without.body.map(({ id }: { readonly id: string }) => id), reply)
      yield* browser.press(yield* browser.get("/home"), "show_replies")
      assert.isTrue(shows((yield* browser.get("/home")).text))
    }))

  it.effect("page without gaps: older, newer, and a real end", () =>
    Effect.gen(function*() {
      const { createPerson } = yield* TestServer
      const hans = yield* createPerson("hans")
      for (let at = 0; at < 45; at++) yield* publishedId(hans, `number ${at}`)
      const browser = yield* staffBrowser(hans)
      const idsOf = (text: string) => [...text.matchAll(/<article id="status-(\d+)"/g)].map(([, id = ""]) => id)
      const seen: Array<string> = []
      let path: string | undefined = "/home"
      for (let pages = 0; path !== undefined && pages < 5; pages++) {
        const { text }: Page = yield* browser.get(path)
        seen.push(...idsOf(text))
        path = /<a href="([^"]*)" rel="next"/.exec(text)?.[1]?.replaceAll("&amp;", "&")
      }
      assert.strictEqual(seen.length, 45)
      assert.strictEqual(new Set(seen).size, 45)
    }))

  it.effect("give visitors no cookie, no form, and a page that may be cached for a minute", () =>
    Effect.gen(function*() {
      const { createPerson } = yield* TestServer
      const ida = yield* createPerson("ida")
      const id = yield* publishedId(ida, "for everybody")
      const browser = yield* staffBrowser()
      const page = yield* browser.get("/public/local")
      assert.strictEqual(page.status, 200)
      assert.include(page.text, `id="status-${id}"`)
      assert.notInclude(page.text, "<form")
      assert.deepStrictEqual([...browser.cookies], [])
      assert.strictEqual(page.headers.get("cache-control"), "public, max-age=60")
      assert.match(page.headers.get("vary") ?? "", /Cookie/)
    }))
})

layer(TestServer.layer({ PUBLIC_TIMELINES: "members" }), { excludeTestServices: true })(
  "timelines for members only",
  (it) => {
    it.effect("ask visitors to sign in", () =>
      Effect.gen(function*() {
        const browser = yield* staffBrowser()
        assert.strictEqual((yield* browser.get("/public/local")).status, 401)
        assert.strictEqual((yield* browser.get("/public")).status, 401)
      }))
  }
)
