import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { ask } from "../../support/Api.ts"
import { type Person, TestServer } from "../../support/Server.ts"
import { staffBrowser } from "../../support/StaffBrowser.ts"
import { formsOf, locationOf } from "../../support/TestBrowser.ts"

const write = Effect.fnUntraced(function*(by: Person, status: string, more: Record<string, unknown> = {}) {
  const { body } = yield* ask(by, "POST", "/api/v1/statuses", { status, ...more })
  return String(body.id)
})

/** Creates two people; the first one follows the second. */
const pair = Effect.fnUntraced(function*(one: string, other: string) {
  const { createPerson } = yield* TestServer
  const [reader, author] = [yield* createPerson(one), yield* createPerson(other)]
  yield* ask(reader, "POST", `/api/v1/accounts/${author.accountId}/follow`, {})
  return [reader, author] as const
})

const relationship = (reader: Person, author: Person) =>
  Effect.map(
    ask(reader, "GET", `/api/v1/accounts/relationships?id[]=${author.accountId}`),
    ({ body }) => body[0]
  )

layer(TestServer.layer(), { excludeTestServices: true })("actions of the web client", (it) => {
  it.effect("react, mute the conversation and vote, each undone in place", () =>
    Effect.gen(function*() {
      const [ada, bob] = yield* pair("ada", "bob")
      const id = yield* write(bob, "Tea or coffee?", { poll: { options: ["Tea", "Coffee"], expires_in: 3_600 } })
      const browser = yield* staffBrowser(ada)
      const state = Effect.map(ask(ada, "GET", `/api/v1/statuses/${id}`), ({ body }) => body)
      const home = browser.get("/home")
      yield* browser.press(yield* home, "react:👍")
      assert.deepStrictEqual(
        (yield* state).emoji_reactions.map(({ me, name }: Record<string, unknown>) => [name, me]),
        [
          ["👍", true]
        ]
      )
      yield* browser.press(yield* home, "unreact:👍")
      assert.deepStrictEqual((yield* state).emoji_reactions ?? [], [])
      yield* browser.press(yield* home, "mute")
      assert.isTrue((yield* state).muted)
      yield* browser.press(yield* home, "unmute")
      assert.isFalse((yield* state).muted)
      const done = yield* browser.press(yield* home, "vote", { "choices[]": "1" })
      assert.strictEqual(done.headers.get("location"), `/home#status-${id}`)
      assert.deepStrictEqual((yield* state).poll.own_votes, [1])
      assert.notInclude((yield* home).text, `value="vote"`)
    }))

  it.effect("pin the user's own post, and delete it after a confirmation", () =>
    Effect.gen(function*() {
      const { baseUrl, createPerson } = yield* TestServer
      const cleo = yield* createPerson("cleo")
      const id = yield* write(cleo, "mine")
      const browser = yield* staffBrowser(cleo)
      yield* browser.press(yield* browser.get("/home"), "pin")
      assert.isTrue((yield* ask(cleo, "GET", `/api/v1/statuses/${id}`)).body.pinned)
      yield* browser.press(yield* browser.get("/home"), "unpin")
      assert.isFalse((yield* ask(cleo, "GET", `/api/v1/statuses/${id}`)).body.pinned)
      const question = yield* browser.request(`/web/statuses/${id}/delete`, { headers: { referer: `${baseUrl}/home` } })
      assert.strictEqual(question.status, 200)
      assert.include(question.text, `value="redraft"`)
      // Returns to the page that linked to the confirmation.
      const done = yield* browser.press(question, "delete")
      assert.strictEqual(locationOf(done).pathname, "/home")
      assert.strictEqual((yield* ask(cleo, "GET", `/api/v1/statuses/${id}`)).status, 404)
      assert.include((yield* browser.get("/home")).text, "The post was deleted.")
    }))

  it.effect("refuse to delete, pin or confirm for posts of others or invisible ones", () =>
    Effect.gen(function*() {
      const [dora, erik] = yield* pair("dora", "erik")
      const [open, secret] = [yield* write(erik, "open"), yield* write(erik, "secret", { visibility: "direct" })]
      const browser = yield* staffBrowser(dora)
      assert.strictEqual((yield* browser.get(`/web/statuses/${open}/delete`)).status, 404)
      for (const page of ["react", "translation"]) {
        assert.strictEqual((yield* browser.get(`/web/statuses/${secret}/${page}`)).status, 404)
      }
      const form = formsOf(yield* browser.get("/home")).find(({ action }) => action === `/web/statuses/${open}`)!
      for (const [id, act] of [[open, "delete"], [open, "pin"], [secret, "mute"], [secret, "react:👍"]] as const) {
        const refused = yield* browser.request(`/web/statuses/${id}`, {
          method: "POST",
          body: new URLSearchParams({ ...form.fields, act }),
          headers: { origin: (yield* TestServer).baseUrl, "x-murmuration-part": "status" }
        })
        assert.isAtLeast(refused.status, 400, `${act} ${id}`)
        assert.include(refused.text, "role=\"alert\"")
      }
      assert.strictEqual((yield* ask(erik, "GET", `/api/v1/statuses/${open}`)).status, 200)
    }))

  it.effect("mute for a time, block and report the author from the post, and undo", () =>
    Effect.gen(function*() {
      const [frida, gerd] = yield* pair("frida", "gerd")
      const id = yield* write(gerd, "something rude")
      const browser = yield* staffBrowser(frida)
      const { baseUrl } = yield* TestServer
      const asked = (page: string) =>
        browser.request(`/web/accounts/${gerd.accountId}/${page}?status=${id}`, {
          headers: { referer: `${baseUrl}/public/local` }
        })
      const muted = yield* browser.press(yield* asked("mute"), "mute", { seconds: "3600", notifications: "true" })
      assert.strictEqual(muted.headers.get("location"), `/public/local#status-${id}`)
      const { muting, muting_expires_at: until } = yield* relationship(frida, gerd)
      assert.isTrue(muting)
      assert.isString(until)
      yield* browser.press(yield* browser.get("/public/local"), "unmute")
      assert.isFalse((yield* relationship(frida, gerd)).muting)
      const report = yield* asked("report")
      assert.match(report.text, new RegExp(`name="status_ids\\[\\]" value="${id}" checked`))
      const sent = yield* browser.press(report, "report", {
        category: "spam",
        comment: "again",
        "status_ids[]": id
      })
      assert.strictEqual(sent.status, 303)
      assert.include((yield* browser.get("/public/local")).text, "The moderators have your report.")
      yield* browser.press(yield* asked("block"), "block")
      assert.isTrue((yield* relationship(frida, gerd)).blocking)
      yield* browser.press(yield* browser.get("/public/local"), "unblock")
      assert.isFalse((yield* relationship(frida, gerd)).blocking)
    }))

  it.effect("set the follow's options, endorse, and write a private note from the profile", () =>
    Effect.gen(function*() {
      const [hanna, igor] = yield* pair("hanna", "igor")
      const browser = yield* staffBrowser(hanna)
      const page = (name: string) => browser.get(`/web/accounts/${igor.accountId}/${name}`)
      assert.include((yield* browser.get("/@igor")).text, "Follow settings")
      yield* browser.press(yield* page("follow"), "followOptions", { notify: "true", languages: "de, en" })
      yield* browser.press(yield* page("note"), "note", { comment: "from school" })
      yield* browser.press(yield* browser.get("/@igor"), "endorse")
      const known = yield* relationship(hanna, igor)
      assert.deepStrictEqual(
        [known.notifying, known.showing_reblogs, known.languages, known.note, known.endorsed],
        [true, false, ["de", "en"], "from school", true]
      )
      assert.include((yield* page("note")).text, "from school")
    }))

  it.effect("return to pages of this server only", () =>
    Effect.gen(function*() {
      const [jana, karl] = yield* pair("jana", "karl")
      const browser = yield* staffBrowser(jana)
      const { baseUrl } = yield* TestServer
      for (const referer of ["https://evil.example/x", `${baseUrl}.evil.example/`, `${baseUrl}//evil.example/`]) {
        const page = yield* browser.request(`/web/accounts/${karl.accountId}/mute`, { headers: { referer } })
        assert.include(page.text, `name="return" value="/home"`, referer)
      }
    }))

  it.effect("are only for members: visitors sign in first", () =>
    Effect.gen(function*() {
      const browser = yield* staffBrowser()
      for (const path of ["/web/statuses/1/react", "/web/accounts/1/report", "/web/statuses?ids=1", "/settings/push"]) {
        const away = yield* browser.get(path)
        assert.strictEqual(away.status, 302, path)
        assert.strictEqual(locationOf(away).pathname, "/auth/sign_in")
      }
      assert.strictEqual((yield* browser.get("/keys")).status, 200)
    }))
})
