import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { ask, settled } from "../../support/Api.ts"
import { type Person, TestServer } from "../../support/Server.ts"
import { staffBrowser } from "../../support/StaffBrowser.ts"

const write = (by: Person, status: string, more: Record<string, unknown> = {}) =>
  Effect.map(ask(by, "POST", "/api/v1/statuses", { status, ...more }), ({ body }) => String(body.id))
const favourite = (by: Person, id: string) => ask(by, "POST", `/api/v1/statuses/${id}/favourite`)
const follow = (by: Person, whom: Person) => ask(by, "POST", `/api/v1/accounts/${whom.accountId}/follow`, {})

layer(TestServer.layer(), { excludeTestServices: true })("web notifications", (it) => {
  it.effect("describe what happened, group favourites and follows, and have a tab for mentions", () =>
    Effect.gen(function*() {
      const { createPerson } = yield* TestServer
      const ada = yield* createPerson("ada")
      const others = yield* Effect.forEach(["bob", "cleo", "dora"], (name) => createPerson(name))
      const id = yield* write(ada, "A <post> of mine")
      for (const other of others) {
        yield* favourite(other, id)
        yield* follow(other, ada)
      }
      yield* write(others[0]!, "@ada how are you?")
      yield* settled
      const browser = yield* staffBrowser(ada)
      const page = yield* browser.get("/notifications")
      assert.strictEqual(page.status, 200)
      assert.match(page.text, /aria-label="New: dora and 2 others favourited your post"/)
      assert.match(page.text, /aria-label="New: dora and 2 others are now following you"/)
      assert.include(page.text, "A &lt;post&gt; of mine")
      assert.include(page.text, "how are you?")
      const mentions = yield* browser.get("/notifications?type=mentions")
      assert.include(mentions.text, "how are you?")
      assert.notInclude(mentions.text, "favourited your post")
    }))

  it.effect("F284: each has a link to its post or account; the notification of another account leads to the user's own list", () =>
    Effect.gen(function*() {
      const { createPerson } = yield* TestServer
      const [gina, hugo] = [yield* createPerson("gina"), yield* createPerson("hugo")]
      const own = yield* write(gina, "mine")
      yield* favourite(hugo, own)
      const mention = yield* write(hugo, "@gina hello")
      yield* follow(hugo, gina)
      yield* settled
      const { body } = yield* ask(gina, "GET", "/api/v1/notifications")
      const idOf = (type: string) => String(body.find((one: { readonly type: string }) => one.type === type).id)
      const browser = yield* staffBrowser(gina)
      const target = (id: string) =>
        Effect.map(browser.get(`/notifications/${id}`), ({ headers, status }) => [status, headers.get("location")])
      assert.deepStrictEqual(yield* target(idOf("favourite")), [303, `/@gina/${own}`])
      assert.deepStrictEqual(yield* target(idOf("mention")), [303, `/@hugo/${mention}`])
      assert.deepStrictEqual(yield* target(idOf("follow")), [303, "/@hugo"])
      for (const wrong of ["1", "x", "99999999999999999999999"]) {
        assert.deepStrictEqual(yield* target(wrong), [303, "/notifications"])
      }
      const other = yield* staffBrowser(hugo)
      const { headers } = yield* other.get(`/notifications/${idOf("mention")}`)
      assert.strictEqual(headers.get("location"), "/notifications")
      yield* ask(hugo, "DELETE", `/api/v1/statuses/${mention}`)
      yield* settled
      assert.deepStrictEqual(yield* target(idOf("mention")), [303, "/notifications"])
    }))

  it.effect("are marked as read by a form, on all devices, and not unread again by an older page", () =>
    Effect.gen(function*() {
      const { createPerson } = yield* TestServer
      const [emil, fritz] = [yield* createPerson("emil"), yield* createPerson("fritz")]
      const id = yield* write(emil, "one")
      yield* favourite(fritz, id)
      yield* settled
      const browser = yield* staffBrowser(emil)
      const old = yield* browser.get("/notifications")
      assert.match(yield* Effect.map(browser.get("/home"), ({ text }) => text), /class="unread-count"[^>]*>1</)
      yield* write(fritz, "@emil two")
      yield* settled
      const page = yield* browser.get("/notifications")
      assert.match(page.text, /class="unread-count"[^>]*>2</)
      const done = yield* browser.press(page, "read")
      assert.strictEqual(done.headers.get("location"), "/notifications")
      const after = yield* browser.get("/notifications")
      assert.notInclude(after.text, `class="unread-count"`)
      assert.notInclude(after.text, "note unread")
      const marker = () =>
        Effect.map(
          ask(emil, "GET", "/api/v1/markers?timeline[]=notifications"),
          ({ body }) => body.notifications.last_read_id
        )
      const read = yield* marker()
      yield* browser.press(old, "read")
      assert.strictEqual(yield* marker(), read)
      assert.strictEqual((yield* ask(emil, "GET", "/api/v2/notifications/unread_count")).body.count, 0)
    }))

  it.effect("are dismissed singly, and cleared", () =>
    Effect.gen(function*() {
      const { createPerson } = yield* TestServer
      const [gerd, hans] = [yield* createPerson("gerd"), yield* createPerson("hans")]
      yield* write(hans, "@gerd first")
      yield* write(hans, "@gerd second")
      yield* settled
      const browser = yield* staffBrowser(gerd)
      yield* browser.press(yield* browser.get("/notifications"), "dismiss")
      const page = yield* browser.get("/notifications")
      assert.include(page.text, "first")
      assert.notInclude(page.text, "second")
      yield* browser.press(page, "clear")
      const empty = yield* browser.get("/notifications")
      assert.include(empty.text, "No notifications.")
      assert.include(empty.text, "All notifications were deleted.")
      assert.strictEqual((yield* ask(gerd, "GET", "/api/v1/notifications")).body.length, 0)
    }))

  it.effect("of filtered senders wait as requests that are accepted and dismissed, also many at once", () =>
    Effect.gen(function*() {
      const { createPerson } = yield* TestServer
      const ida = yield* createPerson("ida")
      const senders = yield* Effect.forEach(["jon", "kai", "lea"], (name) => createPerson(name))
      yield* ask(ida, "PATCH", "/api/v2/notifications/policy", { for_not_following: "filter" })
      for (const sender of senders) yield* write(sender, `@ida hello from ${sender.username}`)
      yield* settled
      const browser = yield* staffBrowser(ida)
      const page = yield* browser.get("/notifications/requests")
      assert.include(page.text, "hello from jon")
      const requests = (yield* ask(ida, "GET", "/api/v1/notifications/requests")).body
      const of = (name: string): string =>
        requests.find(({ account }: { readonly account: { readonly acct: string } }) => account.acct === name).id
      const shown = yield* browser.get(`/notifications?account=${senders[0]!.accountId}`)
      assert.include(shown.text, "hello from jon")
      yield* browser.press(page, "accept", { "id[]": of("jon") })
      assert.include((yield* browser.get("/notifications")).text, "hello from jon")
      yield* browser.press(yield* browser.get("/notifications/requests"), "dismiss", { "id[]": of("kai") })
      const left = yield* browser.get("/notifications/requests")
      assert.notInclude(left.text, "@kai")
      assert.include(left.text, "@lea")
    }))

  it.effect("accept and reject follow requests, singly and many at once", () =>
    Effect.gen(function*() {
      const { createPerson } = yield* TestServer
      const mia = yield* createPerson("mia")
      yield* ask(mia, "PATCH", "/api/v1/accounts/update_credentials", { locked: true })
      const others = yield* Effect.forEach(["nora", "olga", "paul"], (name) => createPerson(name))
      for (const other of others) yield* follow(other, mia)
      yield* settled
      const browser = yield* staffBrowser(mia)
      assert.include((yield* browser.get("/notifications")).text, "wants to follow you")
      const page = yield* browser.get("/follow_requests")
      assert.include(page.text, "@paul")
      const asked = () => Effect.map(ask(mia, "GET", "/api/v1/follow_requests"), ({ body }): number => body.length)
      yield* browser.press(page, "authorize", { "id[]": String(others[0]!.accountId) })
      assert.strictEqual(yield* asked(), 2)
      const action = `/web/accounts/${others[1]!.accountId}`
      const single = (yield* browser.get("/follow_requests")).text
      assert.include(single, `action="${action}"`)
      yield* browser.press(yield* browser.get("/follow_requests"), "reject", { "id[]": String(others[1]!.accountId) })
      assert.strictEqual(yield* asked(), 1)
      assert.include((yield* browser.get("/@mia/followers")).text, "@nora")
    }))
})
