import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { publishedId } from "../../support/Api.ts"
import { TestServer } from "../../support/Server.ts"
import { staffBrowser } from "../../support/StaffBrowser.ts"

layer(TestServer.layer(), { excludeTestServices: true })("feeds", (it) => {
  it.effect("list only public posts, without text behind a warning, in three formats", () =>
    Effect.gen(function*() {
      const { baseUrl, createPerson } = yield* TestServer
      const ada = yield* createPerson("ada")
      yield* publishedId(ada, "first & <b>bold</b> #cats")
      yield* publishedId(ada, "the hidden ending", { spoiler_text: "A spoiler" })
      yield* publishedId(ada, "not listed", { visibility: "unlisted" })
      yield* publishedId(ada, "for followers", { visibility: "private" })
      const browser = yield* staffBrowser()
      for (const page of ["/@ada", "/tags/cats"]) {
        for (const [format, type] of [["rss", "rss+xml"], ["atom", "atom+xml"], ["json", "feed+json"]] as const) {
          const { headers, status, text } = yield* browser.get(`${page}/feed.${format}`)
          assert.strictEqual(status, 200, text)
          assert.strictEqual(headers.get("content-type"), `application/${type}; charset=utf-8`)
          assert.include(text, "first &amp; ")
          for (const secret of ["hidden ending", "not listed", "for followers"]) assert.notInclude(text, secret)
          if (page === "/@ada") assert.include(text, "A spoiler")
          const etag = headers.get("etag") ?? ""
          const again = yield* browser.request(`${page}/feed.${format}`, { headers: { "if-none-match": etag } })
          assert.strictEqual(again.status, 304)
          const since = { "if-modified-since": headers.get("last-modified") ?? "" }
          assert.strictEqual((yield* browser.request(`${page}/feed.${format}`, { headers: since })).status, 304)
          const { text: html } = yield* browser.get(page)
          assert.include(html, `rel="alternate" type="application/${type}"`)
          assert.include(html, `href="${page}/feed.${format}"`)
        }
        const other = yield* browser.get(`${page}.rss`)
        assert.strictEqual(other.status, 301)
        assert.strictEqual(other.headers.get("location"), `${page}/feed.rss`)
      }
      const feed = JSON.parse((yield* browser.get("/@ada/feed.json")).text)
      assert.strictEqual(feed.home_page_url, `${baseUrl}/@ada`)
      assert.strictEqual((yield* browser.get("/@nobody/feed.rss")).status, 404)
    }))

  it.effect("page to the oldest post without gaps", () =>
    Effect.gen(function*() {
      const { baseUrl, createPerson } = yield* TestServer
      const bob = yield* createPerson("bob")
      for (let at = 0; at < 45; at++) yield* publishedId(bob, `number ${at}`)
      const browser = yield* staffBrowser()
      const seen = new Set<string>()
      let path: string | undefined = "/@bob/feed.json"
      for (let pages = 0; path !== undefined && pages < 6; pages++) {
        const feed: { readonly items: ReadonlyArray<{ readonly id: string }>; readonly next_url?: string } = JSON.parse(
          (yield* browser.get(path)).text
        )
        for (const { id } of feed.items) seen.add(id)
        path = feed.next_url?.slice(baseUrl.length)
      }
      assert.strictEqual(seen.size, 45)
      assert.match((yield* browser.get("/@bob/feed.rss")).text, /<atom:link rel="next" [^>]*max_id=\d+"/)
      assert.match((yield* browser.get("/@bob/feed.atom")).text, /<link rel="next" [^>]*max_id=\d+"/)
    }))
})
