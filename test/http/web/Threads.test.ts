import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { ask } from "../../support/Api.ts"
import { remotePost } from "../../support/RemotePosts.ts"
import { TestServer } from "../../support/Server.ts"
import { staffBrowser } from "../../support/StaffBrowser.ts"

layer(TestServer.layer(), { excludeTestServices: true })("threads and profiles", (it) => {
  it.effect("a thread is a tree: branches are nested, and a chain by the author is flat", () =>
    Effect.gen(function*() {
      const { createPerson } = yield* TestServer
      const [ada, bob] = [yield* createPerson("ada"), yield* createPerson("bob")]
      const write = Effect.fnUntraced(function*(by: typeof ada, status: string, to?: string) {
        const { body } = yield* ask(by, "POST", "/api/v1/statuses", { status, ...(to && { in_reply_to_id: to }) })
        return String(body.id)
      })
      const root = yield* write(ada, "root")
      const next = yield* write(ada, "root goes on", root)
      const last = yield* write(ada, "root ends", next)
      const reply = yield* write(bob, "@ada a reply", root)
      const response = yield* write(ada, "@bob an answer", reply)
      const browser = yield* staffBrowser(bob)
      for (const reader of [browser, yield* staffBrowser()]) {
        const { status, text } = yield* reader.get(`/@ada/${root}`)
        assert.strictEqual(status, 200)
        const order = [root, next, last, reply, response].map((id) => text.indexOf(`id="status-${id}"`))
        assert.deepStrictEqual(order, order.toSorted((a, b) => a - b))
        assert.match(text, new RegExp(`<ol class="flat"[^>]*id="replies-${next}">`))
        assert.match(text, new RegExp(`<ol class="branch"[^>]*id="replies-${reply}">`))
        assert.include(text, `<meta property="og:title" content="ada (@ada@`)
      }
      const below = yield* browser.get(`/@ada/${response}`)
      assert.isBelow(below.text.indexOf(`status-${reply}"`), below.text.indexOf(`status-${response}"`))
      assert.strictEqual((yield* browser.get(`/@bob/${root}`)).status, 404)
    }))

  it.effect("Home shows an author's thread as one entry, with its first post on top", () =>
    Effect.gen(function*() {
      const { createPerson } = yield* TestServer
      const erik = yield* createPerson("erik")
      const write = Effect.fnUntraced(function*(status: string, to?: string) {
        const { body } = yield* ask(erik, "POST", "/api/v1/statuses", { status, ...(to && { in_reply_to_id: to }) })
        return String(body.id)
      })
      const first = yield* write("first")
      const between = yield* write("something else")
      const second = yield* write("second", first)
      const third = yield* write("third", second)
      const { text } = yield* (yield* staffBrowser(erik)).get("/home")
      const order = [first, second, third, between].map((id) => text.indexOf(`id="status-${id}"`))
      assert.deepStrictEqual(order, order.toSorted((a, b) => a - b))
      assert.include(text, "2 more posts in this thread")
    }))

  it.effect("a profile has tabs, and a form that follows", () =>
    Effect.gen(function*() {
      const { createPerson } = yield* TestServer
      const [cleo, dora] = [yield* createPerson("cleo"), yield* createPerson("dora")]
      yield* ask(dora, "POST", "/api/v1/statuses", { status: "for followers", visibility: "private" })
      const browser = yield* staffBrowser(cleo)
      const before = yield* browser.get("/@dora")
      assert.notInclude(before.text, "for followers")
      const done = yield* browser.press(before, "follow")
      assert.strictEqual(done.headers.get("location"), `/@dora#account-${dora.accountId}`)
      const after = yield* browser.get("/@dora")
      assert.include(after.text, "for followers")
      assert.include(after.text, `value="unfollow"`)
      for (const tab of ["with_replies", "media"]) {
        const { status, text } = yield* browser.get(`/@dora/${tab}`)
        assert.strictEqual(status, 200)
        assert.include(text, `href="/@dora/${tab}" aria-current="page"`)
      }
    }))

  it.effect("a profile of another server says that posts may be missing, and links to the original", () =>
    Effect.gen(function*() {
      const { createPerson } = yield* TestServer
      const { username } = yield* remotePost([])
      const browser = yield* staffBrowser(yield* createPerson("rolf"))
      const { status, text } = yield* browser.get(`/@${username}@else.test`)
      assert.strictEqual(status, 200)
      assert.include(text, "Older posts may be missing here.")
      assert.include(
        text,
        `<a href="https://else.test/@${username}" rel="nofollow noopener" dir="auto">Open the original page`
      )
      assert.notInclude((yield* browser.get("/@rolf")).text, "Older posts may be missing here.")
    }))
})
