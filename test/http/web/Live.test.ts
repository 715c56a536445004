import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { ask, publishedId } from "../../support/Api.ts"
import { TestServer } from "../../support/Server.ts"
import { staffBrowser } from "../../support/StaffBrowser.ts"
import { formsOf } from "../../support/TestBrowser.ts"

/** Opens the stream of a browser; `next` waits for an event by its name, `over` for the end. */
const streamOf = Effect.fnUntraced(function*(
  browser: { readonly cookies: ReadonlyMap<string, string> },
  query = "channel=user"
) {
  const { baseUrl } = yield* TestServer
  const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join("; ")
  const aborting = new AbortController()
  yield* Effect.addFinalizer(() => Effect.sync(() => aborting.abort()))
  const response = yield* Effect.promise(() =>
    fetch(`${baseUrl}/web/stream?${query}`, {
      headers: { cookie, "sec-fetch-site": "same-origin" },
      signal: aborting.signal
    })
  )
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  let text = ""
  const next = (name: string): Effect.Effect<Record<string, string>> =>
    Effect.promise(async () => {
      for (;;) {
        const found = new RegExp(`event: ${name}\\ndata: (.*)\\n\\n`).exec(text)
        if (found !== null) {
          text = text.slice(found.index + found[0].length)
          return JSON.parse(found[1] ?? "")
        }
        const { done, value = "" } = await reader!.read()
        if (done) throw new Error(`The stream ended: ${text}`)
        text += value
      }
    })
  const over = Effect.promise(async () => {
    try {
      while (!(await reader!.read()).done);
    } catch {
      return
    }
  })
  return { response, next, over }
})

layer(TestServer.layer(), { excludeTestServices: true })("the stream of the web client", (it) => {
  it.effect("sends ids of new, edited and deleted posts, and of notifications", () =>
    Effect.gen(function*() {
      const { createPerson } = yield* TestServer
      const [ada, bob] = [yield* createPerson("ada"), yield* createPerson("bob")]
      yield* ask(ada, "POST", `/api/v1/accounts/${bob.accountId}/follow`, {})
      const browser = yield* staffBrowser(ada)
      const { next, response } = yield* streamOf(browser)
      assert.strictEqual(response.status, 200)
      assert.strictEqual(response.headers.get("content-type"), "text/event-stream")
      assert.strictEqual(response.headers.get("cache-control"), "private, no-store")
      const id = yield* publishedId(bob, "@ada hello")
      const { id: notification, ...told } = yield* next("notification")
      assert.deepStrictEqual(told, { type: "mention", status: id })
      assert.match(String(notification), /^\d+$/)
      const other = yield* publishedId(bob, "to all")
      assert.include([id, other], (yield* next("update")).id)
      yield* ask(bob, "PUT", `/api/v1/statuses/${other}`, { status: "to everybody" })
      assert.deepStrictEqual(yield* next("edit"), { id: other })
      yield* ask(bob, "DELETE", `/api/v1/statuses/${other}`)
      assert.deepStrictEqual(yield* next("delete"), { id: other })
    }).pipe(Effect.scoped))

  it.effect("announces posts of the page's channel only, and none that Home omits", () =>
    Effect.gen(function*() {
      const { createPerson } = yield* TestServer
      const [carl, dora, emil] = [yield* createPerson("carl"), yield* createPerson("dora"), yield* createPerson("emil")]
      yield* ask(carl, "POST", `/api/v1/accounts/${dora.accountId}/follow`, {})
      yield* ask(carl, "POST", `/api/v1/accounts/${emil.accountId}/follow`, {})
      const browser = yield* staffBrowser(carl)
      const root = yield* publishedId(emil, "root")
      yield* browser.press(yield* browser.get("/home"), "hide_replies")
      const home = yield* streamOf(browser)
      const tag = yield* streamOf(browser, "channel=hashtag&tag=tea")
      yield* publishedId(dora, "@emil a reply", { in_reply_to_id: root })
      const plain = yield* publishedId(dora, "plain")
      assert.strictEqual((yield* home.next("update")).id, plain)
      const tagged = yield* publishedId(dora, "a cup of #tea")
      assert.strictEqual((yield* tag.next("update")).id, tagged)
    }).pipe(Effect.scoped))

  it.effect("F310: reports that notifications were read elsewhere, and how many are unread", () =>
    Effect.gen(function*() {
      const { createPerson } = yield* TestServer
      const [gus, hal] = [yield* createPerson("gus"), yield* createPerson("hal")]
      const browser = yield* staffBrowser(gus)
      const { next } = yield* streamOf(browser)
      const shown = () => Effect.map(browser.get("/web/unread"), ({ text }) => text)
      assert.strictEqual(yield* shown(), "")
      for (const text of ["@gus one", "@gus two"]) {
        yield* publishedId(hal, text)
        yield* next("notification")
      }
      assert.match(yield* shown(), /data-count="2"[^>]*>2</)
      const { body } = yield* ask(gus, "GET", "/api/v1/notifications")
      yield* ask(gus, "POST", "/api/v1/markers", { notifications: { last_read_id: body[0].id } })
      assert.deepStrictEqual(yield* next("unread"), { id: body[0].id })
      assert.strictEqual(yield* shown(), "")
      assert.notStrictEqual((yield* (yield* staffBrowser()).get("/web/unread")).status, 200)
    }))

  it.effect("F311: reports changes of the reader's follows, to both sides, with the current button", () =>
    Effect.gen(function*() {
      const { createPerson } = yield* TestServer
      const [ida, jon, kim] = [yield* createPerson("ida"), yield* createPerson("jon"), yield* createPerson("kim")]
      yield* ask(jon, "PATCH", "/api/v1/accounts/update_credentials", { locked: true })
      const browser = yield* staffBrowser(ida)
      const { next } = yield* streamOf(browser)
      const button = () =>
        Effect.map(
          browser.get(`/web/follows?ids=${jon.accountId},${kim.accountId},${ida.accountId},x`),
          ({ text }) =>
            Array.from(text.matchAll(/<button[^>]*>([^<]*)<span class="unseen"> @(\w+)/g), ([, label, name]) =>
              `${label} ${name}`)
        )
      yield* ask(ida, "POST", `/api/v1/accounts/${jon.accountId}/follow`, {})
      assert.deepStrictEqual(yield* next("relations"), {})
      assert.deepStrictEqual(yield* button(), ["Withdraw request jon", "Follow kim"])
      yield* ask(jon, "POST", `/api/v1/follow_requests/${ida.accountId}/authorize`, {})
      assert.deepStrictEqual(yield* next("relations"), {})
      assert.deepStrictEqual(yield* button(), ["Unfollow jon", "Follow kim"])
      yield* ask(jon, "POST", `/api/v1/accounts/${ida.accountId}/remove_from_followers`, {})
      yield* next("relations")
      assert.deepStrictEqual(yield* button(), ["Request to follow jon", "Follow kim"])
    }))

  it.effect("is refused without a session, to other sites, and for channels that do not exist", () =>
    Effect.gen(function*() {
      const { baseUrl, createPerson } = yield* TestServer
      const fritz = yield* createPerson("fritz")
      const browser = yield* staffBrowser(fritz)
      const stranger = yield* staffBrowser()
      assert.strictEqual((yield* stranger.get("/web/stream")).status, 401)
      const from = (headers: Record<string, string>) => browser.request("/web/stream", { headers })
      assert.strictEqual((yield* from({ origin: "https://evil.example" })).status, 401)
      assert.strictEqual((yield* from({ "sec-fetch-site": "cross-site" })).status, 401)
      assert.strictEqual((yield* from({ "sec-fetch-site": "same-site" })).status, 401)
      assert.strictEqual((yield* browser.get("/web/stream?channel=nothing")).status, 400)
      assert.strictEqual((yield* browser.get("/web/stream?channel=list&list=999")).status, 401)
      // No token leaves the server: the API's own stream does not accept the cookie.
      assert.strictEqual((yield* browser.get("/api/v1/streaming/user")).status, 401)
      assert.notMatch((yield* browser.get("/home")).text, /access_token|Bearer/)
      assert.isString(baseUrl)
    }))

  it.effect("ends with the session", () =>
    Effect.gen(function*() {
      const { createPerson } = yield* TestServer
      const gina = yield* createPerson("gina")
      const browser = yield* staffBrowser(gina)
      const { over, response } = yield* streamOf(browser)
      assert.strictEqual(response.status, 200)
      const page = yield* browser.get("/home")
      const at = formsOf(page).findIndex(({ action }) => action === "/auth/sign_out")
      yield* browser.submit(page, {}, at)
      yield* over
      assert.strictEqual((yield* browser.get("/web/stream")).status, 401)
    }).pipe(Effect.scoped))

  it.effect("the position in Home moves forward, and Home leads back to it", () =>
    Effect.gen(function*() {
      const { baseUrl, createPerson } = yield* TestServer
      const hans = yield* createPerson("hans")
      const ids: Array<string> = []
      for (let at = 0; at < 30; at++) ids.push(yield* publishedId(hans, `number ${at}`))
      const browser = yield* staffBrowser(hans)
      const [first] = formsOf(yield* browser.get("/home"))
      const mark = (id: string) =>
        browser.request("/web/markers", {
          method: "POST",
          body: new URLSearchParams({ ...first!.fields, id }),
          headers: { origin: baseUrl, "x-murmuration-part": "marker" }
        })
      assert.strictEqual((yield* mark(ids[2]!)).status, 200)
      yield* mark(ids[1]!)
      const { body } = yield* ask(hans, "GET", "/api/v1/markers?timeline[]=home")
      assert.strictEqual(body.home.last_read_id, ids[2])
      const [, path = ""] = /<p class="continue"><a href="([^"#]*)#status-/.exec((yield* browser.get("/home")).text) ??
        []
      const there = yield* browser.get(path)
      assert.include(there.text, `id="status-${ids[2]}"`)
      assert.include(there.text, `id="status-${ids[3]}"`)
      assert.notInclude(there.text, `id="status-${ids[1]}"`)
      yield* mark(ids.at(-1)!)
      assert.notInclude((yield* browser.get("/home")).text, `class="continue"`)
      // Only articles, for scripts; hidden and missing posts are omitted.
      const parts = yield* browser.get(`/web/statuses?ids=${ids[0]},1,x,${ids[1]}`)
      assert.strictEqual(parts.text.match(/<article /g)?.length, 2)
    }))
})
