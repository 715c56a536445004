import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { publishedId } from "../../support/Api.ts"
import { TestServer } from "../../support/Server.ts"
import { staffBrowser } from "../../support/StaffBrowser.ts"
import { locationOf } from "../../support/TestBrowser.ts"

layer(TestServer.layer({ OUTBOUND_ALLOW: "127.0.0.0/8,::1/128" }), { excludeTestServices: true })(
  "actions across servers",
  (it) => {
    it.effect("visitors continue on their own server; only our own form redirects", () =>
      Effect.gen(function*() {
        const { baseUrl, createPerson } = yield* TestServer
        const [ada] = [yield* createPerson("ada"), yield* createPerson("bob")]
        const id = yield* publishedId(ada, "hello")
        const browser = yield* staffBrowser()
        const handle = `@bob@${new URL(baseUrl).host}`
        for (const path of ["/@ada", `/@ada/${id}`]) {
          const { text } = yield* browser.get(path)
          const uri = `${baseUrl}${path}`
          assert.include(text, `/interact?${new URLSearchParams({ uri })}`)
          const query = new URLSearchParams({ uri, handle })
          const ours = { headers: { "sec-fetch-site": "same-origin" } }
          const sent = yield* browser.request(`/interact?${query}`, ours)
          assert.strictEqual(sent.status, 302, sent.text)
          const target = `${baseUrl}/authorize_interaction?uri=${encodeURIComponent(uri)}`
          assert.strictEqual(sent.headers.get("location"), target)
          for (const from of ["cross-site", undefined]) {
            const other = yield* browser.request(`/interact?${query}`, {
              headers: from === undefined ? {} : { "sec-fetch-site": from }
            })
            assert.strictEqual(other.status, 200)
            assert.include(other.text, `href="${target}"`)
          }
        }
        const wrong = new URLSearchParams({ uri: `${baseUrl}/@ada`, handle: "nothing" })
        assert.strictEqual((yield* browser.get(`/interact?${wrong}`)).status, 422)
        const away = new URLSearchParams({ uri: "https://evil.example/@ada", handle })
        assert.strictEqual((yield* browser.get(`/interact?${away}`)).status, 404)
        assert.deepStrictEqual([...browser.cookies], [])
      }))

    it.effect("members come from other sites to the profile or post, after signing in", () =>
      Effect.gen(function*() {
        const { baseUrl, createPerson } = yield* TestServer
        const [cleo, dora] = [yield* createPerson("cleo"), yield* createPerson("dora")]
        const id = yield* publishedId(dora, "hello")
        const visitor = yield* staffBrowser()
        const first = yield* visitor.get(`/authorize_interaction?uri=${encodeURIComponent(`${baseUrl}/@dora`)}`)
        assert.strictEqual(locationOf(first).pathname, "/auth/sign_in")
        const browser = yield* staffBrowser(cleo)
        const paths = [
          [`${baseUrl}/@dora`, "/@dora"],
          [`${baseUrl}/users/dora`, "/@dora"],
          [`${baseUrl}/@dora/${id}`, `/@dora/${id}`],
          ["acct:dora", "/@dora"],
          [`acct:dora@${new URL(baseUrl).host}`, "/@dora"]
        ] as const
        for (const [uri, path] of paths) {
          const done = yield* browser.get(`/authorize_interaction?${new URLSearchParams({ uri })}`)
          assert.strictEqual(done.headers.get("location"), path, uri)
        }
        const missing = yield* browser.get("/authorize_interaction?uri=nothing")
        assert.strictEqual(missing.status, 404)
        const intent = (uri: string) => browser.get(`/intent?${new URLSearchParams({ uri })}`)
        const follow = yield* intent("web+mastodon://follow?uri=acct:dora")
        assert.strictEqual(follow.headers.get("location"), "/authorize_interaction?uri=acct%3Adora")
        const share = yield* intent("web+mastodon://share?text=a%26b")
        assert.strictEqual(share.headers.get("location"), "/share?text=a%26b")
        assert.strictEqual((yield* intent("https://evil.example/")).status, 404)
      }))

    it.effect("robots.txt and the sitemap list those whom members and staff allow", () =>
      Effect.gen(function*() {
        const { baseUrl, createPerson } = yield* TestServer
        const sql = yield* SqlClient.SqlClient
        const [erik, frida] = [yield* createPerson("erik"), yield* createPerson("frida")]
        yield* sql`UPDATE accounts SET discoverable = true, indexable = true
          WHERE id IN (${erik.accountId}, ${frida.accountId})`
        yield* sql`UPDATE users SET noindex = true WHERE account_id = ${frida.accountId}`
        const browser = yield* staffBrowser()
        const robots = yield* browser.get("/robots.txt")
        assert.include(robots.text, "User-agent: GPTBot\nDisallow: /\n")
        assert.include(robots.text, `Sitemap: ${baseUrl}/sitemap.xml`)
        const [, part = ""] = /<loc>([^<]*)<\/loc>/.exec((yield* browser.get("/sitemap.xml")).text) ?? []
        const { status, text } = yield* browser.get(part.slice(baseUrl.length).replaceAll("&amp;", "&"))
        assert.strictEqual(status, 200)
        assert.deepStrictEqual([...text.matchAll(/<loc>([^<]*)<\/loc>/g)].map(([, url]) => url), [`${baseUrl}/@erik`])
        assert.include((yield* browser.get("/@frida")).text, `<meta name="robots" content="noindex">`)
        assert.notInclude((yield* browser.get("/@erik")).text, `<meta name="robots"`)
      }))
  }
)

layer(TestServer.layer({ PUBLIC_TIMELINES: "members" }), { excludeTestServices: true })(
  "public routes with timelines for members",
  (it) => {
    it.effect("show visitors no public timeline, and no feed of a hashtag", () =>
      Effect.gen(function*() {
        const { createPerson } = yield* TestServer
        yield* publishedId(yield* createPerson("ada"), "hello #cats")
        const browser = yield* staffBrowser()
        const closed = [
          "/public",
          "/public/local",
          "/tags/cats",
          ...formats.map((format) => `/tags/cats/feed.${format}`)
        ]
        for (const path of closed) assert.strictEqual((yield* browser.get(path)).status, 401, path)
      }))
  }
)

const formats = ["rss", "atom", "json"]

layer(TestServer.layer({ LIMITED_FEDERATION: "true" }), { excludeTestServices: true })(
  "public routes in limited federation",
  (it) => {
    it.effect("show visitors neither posts nor profiles", () =>
      Effect.gen(function*() {
        const { createPerson } = yield* TestServer
        const id = yield* publishedId(yield* createPerson("ada"), "hello #cats")
        const browser = yield* staffBrowser()
        const closed = [
          "/@ada",
          "/@ada/with_replies",
          "/@ada/media",
          "/@ada/tagged/cats",
          `/@ada/${id}`,
          `/@ada/${id}/embed`,
          "/public",
          "/public/local",
          "/tags/cats",
          "/interact?uri=x",
          "/sitemap.xml",
          ...["/@ada", "/tags/cats"].flatMap((page) => formats.map((format) => `${page}/feed.${format}`))
        ]
        for (const path of closed) {
          const { status, text } = yield* browser.get(path)
          assert.include([401, 404], status, path)
          assert.notInclude(text, "hello", path)
        }
        assert.include((yield* browser.get("/robots.txt")).text, "User-agent: *\nDisallow: /\n")
      }))
  }
)
