import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { StatusIndex } from "../../../src/services/search/StatusIndex.ts"
import { ask, newPerson, settled } from "../../support/Api.ts"
import { cli } from "../../support/CommandLine.ts"
import { allTrends, taggedBy } from "../../support/Crowd.ts"
import { type Person, TestServer } from "../../support/Server.ts"
import { staffBrowser } from "../../support/StaffBrowser.ts"

const write = (by: Person, status: string, more: Record<string, unknown> = {}) =>
  Effect.map(ask(by, "POST", "/api/v1/statuses", { status, ...more }), ({ body }) => String(body.id))

/** Runs the index of posts until it is up to date. */
const indexed = Effect.gen(function*() {
  const { step } = yield* StatusIndex
  yield* Effect.repeat(step, { until: (more) => !more })
}).pipe(Effect.provide(StatusIndex.layer))

layer(TestServer.layer(), { excludeTestServices: true })("discovery in the web", (it) => {
  it.effect("finds people, posts and hashtags, and explains the operators", () =>
    Effect.gen(function*() {
      const [fox, ben] = [yield* newPerson("fox_anna"), yield* newPerson("ben")]
      const id = yield* write(fox, "the quick #fox <jumps>")
      yield* indexed
      const browser = yield* staffBrowser(fox)
      const all = yield* browser.get("/search?q=fox")
      assert.include(all.text, "@fox_anna")
      assert.include(all.text, `href="/tags/fox"`)
      assert.include(all.text, `id="status-${id}"`)
      assert.include(all.text, "<code>has:image</code>")
      const posts = yield* browser.get("/search?q=fox&type=statuses")
      assert.include(posts.text, `id="status-${id}"`)
      assert.notInclude(posts.text, `id="account-`)
      assert.include((yield* browser.get("/search?q=%22%3E%3Cscript%3E")).text, `value="&quot;&gt;&lt;script&gt;"`)
      assert.include((yield* browser.get("/search?q=zzzz")).text, "Nothing found.")
      assert.strictEqual((yield* browser.get("/search")).status, 200)
      const visitor = yield* staffBrowser()
      const seen = yield* visitor.get("/search?q=fox&offset=20")
      assert.include(seen.text, "@fox_anna")
      assert.notInclude(seen.text, `id="status-${id}"`)
      assert.deepStrictEqual([...visitor.cookies], [])
      // Ben's posts are not found by words, because he does not allow it.
      const other = yield* staffBrowser(ben)
      assert.notInclude((yield* other.get("/search?q=jumps&type=statuses")).text, `id="status-${id}"`)
    }))

  it.effect("leads from the address of a post or profile to its page here", () =>
    Effect.gen(function*() {
      const { baseUrl } = yield* TestServer
      const cleo = yield* newPerson("cleo")
      const id = yield* write(cleo, "here")
      const browser = yield* staffBrowser(cleo)
      const lookFor = (text: string) => browser.get(`/search?${new URLSearchParams({ q: text })}`)
      const post = yield* lookFor(`${baseUrl}/@cleo/${id}`)
      assert.deepStrictEqual([post.status, post.headers.get("location")], [302, `/@cleo/${id}`])
      const profile = yield* lookFor(`${baseUrl}/@cleo`)
      assert.strictEqual(profile.headers.get("location"), "/@cleo")
      assert.include((yield* lookFor(`${baseUrl}/nowhere`)).text, "Nothing found.")
      // A visitor's search resolves nothing.
      const visitor = yield* staffBrowser()
      const seen = yield* visitor.get(`/search?${new URLSearchParams({ q: `${baseUrl}/@cleo/${id}` })}`)
      assert.strictEqual(seen.status, 200)
    }))

  it.effect("shows popular posts, hashtags and links, also to visitors", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const dora = yield* newPerson("dora")
      const id = yield* write(dora, "everybody likes #bees")
      yield* taggedBy("bees", [dora.accountId])
      yield* allTrends("https://news.example/story")
      yield* sql`UPDATE tags SET trendable = true`
      const [browser, visitor] = [yield* staffBrowser(dora), yield* staffBrowser()]
      for (const one of [browser, visitor]) {
        assert.include((yield* one.get("/explore")).text, `id="status-${id}"`)
        assert.strictEqual((yield* one.get("/explore/tags")).status, 200)
        assert.include((yield* one.get("/explore/links")).text, `href="https://news.example/story"`)
      }
      assert.notInclude((yield* visitor.get("/explore")).text, "<form method=\"post\"")
      assert.strictEqual((yield* visitor.get("/explore/suggestions")).status, 302)
    }))

  it.effect("follows hashtags and unfollows them", () =>
    Effect.gen(function*() {
      const emil = yield* newPerson("emil")
      const browser = yield* staffBrowser(emil)
      yield* browser.press(yield* browser.get("/followed_tags"), "follow", { tag: " #Honey " })
      const page = yield* browser.get("/followed_tags")
      assert.match(page.text, /href="\/tags\/[Hh]oney"/)
      const tagPage = yield* browser.get("/tags/honey")
      assert.include(tagPage.text, `value="unfollow"`)
      yield* browser.press(tagPage, "unfollow")
      assert.include((yield* browser.get("/followed_tags")).text, "You do not follow any hashtags yet.")
      const refused = yield* browser.press(yield* browser.get("/followed_tags"), "follow", { tag: "a b" })
      assert.strictEqual(refused.status, 303)
      assert.match((yield* browser.follow(refused)).text, /Record not found/)
    }))

  it.effect("shows announcements with reactions, and marks them as read", () =>
    Effect.gen(function*() {
      const fritz = yield* newPerson("fritz")
      const { code } = yield* cli(["announcement", "add", "We move on *Sunday*"], (yield* TestServer).variables)
      assert.strictEqual(code, 0)
      const browser = yield* staffBrowser(fritz)
      const page = yield* browser.get("/announcements")
      assert.include(page.text, "We move on")
      assert.include(page.text, "announcement unread")
      yield* browser.press(page, "react", { name: "🎉" })
      const reacted = yield* browser.get("/announcements")
      assert.match(reacted.text, /value="unreact"[^>]*aria-pressed="true">🎉 1</)
      yield* browser.press(reacted, "unreact")
      assert.notInclude((yield* browser.get("/announcements")).text, `value="unreact"`)
      const refused = yield* browser.press(yield* browser.get("/announcements"), "react", { name: "no emoji" })
      assert.match((yield* browser.follow(refused)).text, /not a recognized emoji/)
      yield* browser.press(yield* browser.get("/announcements"), "dismiss")
      assert.notInclude((yield* browser.get("/announcements")).text, "announcement unread")
    }))

  it.effect("catches up with the posts of a period, by account or by time, and their links", () =>
    Effect.gen(function*() {
      const [gerd, hans, ida] = [yield* newPerson("gerd"), yield* newPerson("hans"), yield* newPerson("ida")]
      for (const other of [hans, ida]) yield* ask(gerd, "POST", `/api/v1/accounts/${other.accountId}/follow`, {})
      const quiet = yield* write(ida, "rare")
      const loud = yield* write(hans, "first")
      const louder = yield* write(hans, "second")
      yield* settled
      const browser = yield* staffBrowser(gerd)
      const order = (query: string) =>
        Effect.map(
          browser.get(`/catchup?${query}`),
          ({ text }) => [...text.matchAll(/<article id="status-(\d+)"/g)].map(([, id]) => id)
        )
      assert.deepStrictEqual(yield* order(""), [quiet, louder, loud])
      assert.deepStrictEqual(yield* order("span=3&sort=newest"), [louder, loud, quiet])
      assert.deepStrictEqual(yield* order("span=72&sort=oldest"), [quiet, loud, louder])
      assert.deepStrictEqual(yield* order("span=-1&sort=x"), [quiet, louder, loud])
      assert.include((yield* browser.get("/catchup")).text, "3 posts from people you follow")
    }))
})

layer(TestServer.layer({ PUBLIC_TIMELINES: "members" }), { excludeTestServices: true })(
  "discovery for members only",
  (it) => {
    it.effect("asks visitors to sign in", () =>
      Effect.gen(function*() {
        const browser = yield* staffBrowser()
        for (const path of ["/explore", "/explore/tags", "/explore/links"]) {
          assert.strictEqual((yield* browser.get(path)).status, 401, path)
        }
      }))
  }
)
