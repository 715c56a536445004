import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Limits, limits } from "../../../src/http/guard/Limits.ts"
import { pagesOfOwnerMax, visitorPageCharactersMax } from "../../../src/services/identity/FormPages.ts"
import { publicUrl } from "../../support/Reads.ts"
import { client, password, user } from "../../support/SignedIn.ts"
import * as TestBrowser from "../../support/TestBrowser.ts"
import { Postbox, server } from "../../support/WebServer.ts"
import { authorizeUrl } from "../oauth/Allowing.ts"

const submission = { origin: publicUrl, "sec-fetch-mode": "navigate" }
const formPages = /^\/web\/form_pages\/[\w-]{43}$/
const opened = () => TestBrowser.make(submission)
type Opened = ReturnType<typeof opened>

const targetOf = (reply: TestBrowser.Page) => {
  const { pathname, search } = TestBrowser.locationOf(reply)
  return pathname + search
}
/** Loads the stored page that a form led to. */
const stored = Effect.fnUntraced(function*(browser: Opened, reply: TestBrowser.Page) {
  assert.strictEqual(reply.status, 303, reply.text)
  assert.match(TestBrowser.locationOf(reply).pathname, formPages)
  const page = yield* browser.get(targetOf(reply))
  assert.strictEqual(page.status, 200)
  return page
})
const rows = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql<{ readonly row: string }>`SELECT p::text AS row FROM visitor_form_pages p ORDER BY created_at`
)
const emptied = Effect.flatMap(SqlClient.SqlClient, (sql) => sql`DELETE FROM visitor_form_pages`)
const refusedSignIn = Effect.fnUntraced(function*(browser: Opened, path = "/auth/sign_in", email = "x@mail.example") {
  return yield* browser.submit(yield* browser.get(path), { email, password: "not my password" })
})
const statusFor = Effect.fnUntraced(function*(browser: Opened, headers: Record<string, string>) {
  const [form] = TestBrowser.formsOf(yield* browser.get("/auth/sign_in"))
  const body = new URLSearchParams({ ...form?.fields, email: "x@mail.example", password: "wrong" })
  return (yield* browser.request("/auth/sign_in", { method: "POST", body, headers })).status
})

layer(server(), { excludeTestServices: true })("F410: a page that responds to a visitor's form", (it) => {
  it.effect("is stored for the browser of the form, without its password and tokens", () =>
    Effect.gen(function*() {
      yield* emptied
      yield* user("ada")
      const browser = opened()
      const reply = yield* refusedSignIn(browser, "/auth/sign_in?return_to=%2Fhome", "ada@mail.example")
      const page = yield* stored(browser, reply)
      assert.match(page.text, /class="problem" role="alert"/)
      assert.include(page.text, "value=\"ada@mail.example\"")
      assert.include(page.headers.get("content-security-policy"), "form-action 'self'")
      assert.include(page.headers.get("cache-control"), "no-store")
      const [{ row = "" } = {}] = yield* rows
      for (const secret of ["not my password", browser.cookies.get("__Host-form") ?? ""]) assert.notInclude(row, secret)
      assert.notMatch(row, /name=\W*authenticity_token\W* value=\W*[\w-]{20}/)
      // Another browser, with a cookie or without one, and a member.
      const other = opened()
      yield* other.get("/auth/sign_in")
      const member = opened()
      yield* member.signIn("ada")
      for (const stranger of [opened(), other, member]) {
        const elsewhere = yield* stranger.get(targetOf(reply))
        assert.strictEqual(elsewhere.status, 302)
        assert.strictEqual(targetOf(elsewhere), "/auth/sign_in")
      }
      // The form of the stored page works, and the page is removed then.
      const done = yield* browser.request("/auth/sign_in", {
        method: "POST",
        body: new URLSearchParams({
          ...TestBrowser.formsOf(page)[0]?.fields,
          email: "ada@mail.example",
          password
        }),
        headers: { ...submission, referer: publicUrl + targetOf(reply) }
      })
      assert.strictEqual(targetOf(done), "/home")
      assert.lengthOf(yield* rows, 0)
    }))

  it.effect("has few copies for a browser, for a quarter of an hour, and none that is long", () =>
    Effect.gen(function*() {
      yield* emptied
      const sql = yield* SqlClient.SqlClient
      const browser = opened()
      const targets: Array<string> = []
      for (let count = 0; count < pagesOfOwnerMax + 2; count++) targets.push(targetOf(yield* refusedSignIn(browser)))
      assert.lengthOf(yield* rows, pagesOfOwnerMax)
      const [{ seconds } = { seconds: 0 }] = yield* sql<{ readonly seconds: number }>`
        SELECT extract(epoch FROM max(expires_at - created_at))::int AS seconds FROM visitor_form_pages`
      assert.strictEqual(seconds, 900)
      yield* sql`UPDATE visitor_form_pages SET expires_at = created_at - interval '1 hour'`
      assert.strictEqual(targetOf(yield* browser.get(targets.at(-1) ?? "")), "/auth/sign_in")
      const kept = new URLSearchParams({ text: "<".repeat(visitorPageCharactersMax / 4) })
      const long = yield* browser.request("/web/compose/kept", { method: "POST", body: kept, headers: submission })
      assert.strictEqual(long.status, 403)
      assert.include(long.text, "&lt;&lt;")
    }))

  it.effect("gets the secret of a link from the URL of the form's page, and stores none", () =>
    Effect.gen(function*() {
      yield* emptied
      yield* user("bea")
      const browser = opened()
      const asked = yield* browser.submit(yield* browser.get("/auth/password/new"), { email: "bea@mail.example" })
      assert.include((yield* stored(browser, asked)).text, "Check your email")
      const { pathname, search } = new URL(/https:\S+/.exec((yield* Postbox.next).text)?.[0] ?? "")
      const token = new URLSearchParams(search).get("reset_password_token") ?? ""
      assert.match(token, /^[\w-]{43}$/)
      /** Sends the form of a page, which the browser names. */
      const send = (page: TestBrowser.Page, path: string, secret: string) =>
        browser.request(pathname, {
          method: "POST",
          body: new URLSearchParams({ ...TestBrowser.formsOf(page)[0]?.fields, password: secret }),
          headers: { ...submission, referer: publicUrl + path }
        })
      const first = yield* send(yield* browser.get(pathname + search), pathname + search, "short")
      const second = yield* send(yield* stored(browser, first), targetOf(first), "shorter")
      const page = yield* stored(browser, second)
      assert.include(page.text, "is too short")
      for (const { row } of yield* rows) assert.notInclude(row, token)
      const done = yield* send(page, targetOf(second), "a new password")
      assert.include((yield* stored(browser, done)).text, "Your password was set")
      assert.include((yield* Postbox.next).subject, "Your password was changed")
      // Without the path of the form's page the secret could not be filled in.
      const again = yield* browser.submit(yield* browser.get("/auth/password/new"), { email: "bea@mail.example" })
      assert.strictEqual(again.status, 303)
      const next = new URL(/https:\S*reset_password_token\S+/.exec((yield* Postbox.next).text)?.[0] ?? publicUrl)
      const form = yield* browser.get(next.pathname + next.search)
      assert.strictEqual((yield* browser.submit(form, { password: "short" })).status, 422)
    }))

  it.effect("is the response itself for scripts, other sites and browsers without the form's cookie", () =>
    Effect.gen(function*() {
      yield* emptied
      const browser = opened()
      for (const mode of ["cors", "same-origin", ""]) {
        assert.strictEqual(yield* statusFor(browser, { origin: publicUrl, "sec-fetch-mode": mode }), 422, mode)
      }
      assert.strictEqual(yield* statusFor(browser, { ...submission, origin: "https://evil.example" }), 403)
      const without = yield* opened().request("/auth/sign_in", {
        method: "POST",
        body: new URLSearchParams({ email: "x@mail.example" }),
        headers: submission
      })
      assert.strictEqual(without.status, 403)
      assert.lengthOf(yield* rows, 0)
    }))

  it.effect("is not stored if it has a code for an app", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      yield* user("cleo")
      const app = yield* client("read", "myapp://back")
      const browser = opened()
      yield* browser.signIn("cleo")
      const consent = yield* browser.get(authorizeUrl(app, { response_mode: "form_post" }))
      const posted = yield* browser.submit(consent)
      assert.strictEqual(posted.status, 200)
      assert.match(TestBrowser.formsOf(posted)[0]?.fields["code"] ?? "", /^[\w-]{43}$/)
      assert.lengthOf(yield* sql`SELECT FROM form_pages WHERE page LIKE '%myapp:%'`, 0)
    }))
})

layer(server({}, { limits: Limits.layerMemory }), { excludeTestServices: true })(
  "F410: stored pages of visitors",
  (it) => {
    it.effect("are limited by address, and the responses are the pages themselves beyond that", () =>
      Effect.gen(function*() {
        const { formPagesAddress: { uses } } = limits
        const statuses: Array<number> = []
        for (let count = 0; count < uses + 1; count++) statuses.push(yield* statusFor(opened(), submission))
        assert.deepStrictEqual([...new Set(statuses.slice(0, uses))], [303])
        assert.strictEqual(statuses.at(-1), 422)
        assert.lengthOf(yield* rows, uses)
      }))
  }
)
