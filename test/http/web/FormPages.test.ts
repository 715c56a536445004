import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { twoFactorPath } from "../../../src/http/html/PagePaths.ts"
import { pagesOfOwnerMax } from "../../../src/services/identity/FormPages.ts"
import { configuration } from "../../support/Reads.ts"
import { password, user } from "../../support/SignedIn.ts"
import * as TestBrowser from "../../support/TestBrowser.ts"
import { server } from "../../support/WebServer.ts"

const { publicUrl } = configuration
const submission = { origin: publicUrl, "sec-fetch-mode": "navigate" }
const formPages = /^\/web\/form_pages\/[\w-]{43}$/

/** Signs in with a browser that loads the responses to its forms as pages. */
const opened = Effect.fnUntraced(function*(name: string) {
  const browser = TestBrowser.make(submission)
  yield* browser.signIn(name)
  return browser
})
type Opened = Effect.Success<ReturnType<typeof opened>>

const send = Effect.fnUntraced(function*(
  browser: Opened,
  path: string,
  action: string,
  fields: Record<string, string>,
  headers: Record<string, string> = {}
) {
  const page = yield* browser.get(path)
  const form = TestBrowser.formsOf(page).find((one) => one.action === action)
  const body = new URLSearchParams({ ...form?.fields, ...fields })
  return yield* browser.request(action, { method: "POST", body, headers: { ...submission, ...headers } })
})
const refused = (browser: Opened, note: string, headers: Record<string, string> = {}) =>
  send(browser, "/settings/profile", "/web/settings/profile", {
    act: "save",
    display_name: "x".repeat(200),
    note
  }, headers)
const targetOf = (reply: TestBrowser.Page) => {
  const { pathname, search } = TestBrowser.locationOf(reply)
  return pathname + search
}

layer(server(), { excludeTestServices: true })("F390: a page that responds to a form", (it) => {
  it.effect("is the empty form for ids that no page can have", () =>
    Effect.gen(function*() {
      yield* user("odd")
      const browser = yield* opened("odd")
      for (const id of ["%00", "a", "x".repeat(43), "%F0%9F%90%A6"]) {
        const reply = yield* browser.request(`/web/form_pages/${id}?to=/settings/profile`)
        assert.strictEqual(reply.status, 302, id.slice(0, 20))
        assert.strictEqual(TestBrowser.locationOf(reply).pathname, "/settings/profile")
      }
    }))

  it.effect("is stored for the session of the form, and can be loaded again", () =>
    Effect.gen(function*() {
      yield* user("ada")
      const browser = yield* opened("ada")
      const reply = yield* refused(browser, "Never lose <this>.")
      assert.strictEqual(reply.status, 303, reply.text)
      assert.match(TestBrowser.locationOf(reply).pathname, formPages)
      const target = targetOf(reply)
      for (const count of [1, 2]) {
        const page = yield* browser.get(target)
        assert.strictEqual(page.status, 200, String(count))
        assert.match(page.text, /class="problem" role="alert">[^<]*Display name is too long/)
        assert.include(page.text, "Never lose &lt;this&gt;.")
        assert.include(page.headers.get("content-security-policy"), "script-src 'self'")
        assert.include(page.headers.get("cache-control"), "no-store")
      }
      // Another browser of the member, another member, a visitor.
      yield* user("eve")
      for (const other of [yield* opened("ada"), yield* opened("eve"), TestBrowser.make()]) {
        const elsewhere = yield* other.get(target)
        assert.strictEqual(elsewhere.status, 302)
        assert.strictEqual(targetOf(elsewhere), "/settings/profile")
      }
    }))

  it.effect("is removed after the form succeeded, and after an hour; a session has few", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const account = yield* user("bea")
      const browser = yield* opened("bea")
      const stored = sql`SELECT FROM form_pages WHERE account_id = ${account}`
      const target = targetOf(yield* refused(browser, "First"))
      const again = yield* refused(browser, "Second", { referer: publicUrl + target })
      assert.match(TestBrowser.locationOf(again).pathname, formPages)
      assert.lengthOf(yield* stored, 2)
      const done = yield* send(browser, target, "/web/settings/profile", { act: "save", display_name: "Bea" }, {
        referer: publicUrl + target
      })
      assert.strictEqual(targetOf(done), "/settings/profile")
      assert.lengthOf(yield* stored, 1)
      assert.strictEqual(targetOf(yield* browser.get(target)), "/settings/profile")
      yield* sql`UPDATE form_pages SET expires_at = created_at WHERE account_id = ${account}`
      assert.strictEqual(targetOf(yield* browser.get(targetOf(again))), "/settings/profile")
      for (let count = 0; count < pagesOfOwnerMax + 2; count++) yield* refused(browser, String(count))
      assert.lengthOf(yield* stored, pagesOfOwnerMax)
      const page = yield* browser.get("/settings/profile")
      yield* browser.submit(page, {}, TestBrowser.formsOf(page).findIndex(({ action }) => action === "/auth/sign_out"))
      assert.lengthOf(yield* stored, 0)
    }))

  it.effect("has no passwords, codes or form tokens; one with secrets is not stored", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const account = yield* user("cem")
      const browser = yield* opened("cem")
      const pages = Effect.map(
        sql<{ readonly page: string }>`SELECT page FROM form_pages WHERE account_id = ${account}`,
        (rows) => rows.map(({ page }) => page)
      )
      yield* refused(browser, "A note")
      const wrong = yield* send(browser, "/settings/account", "/settings/account/password", {
        password: "not my password",
        new_password: "a new password"
      })
      assert.strictEqual(wrong.status, 303, wrong.text)
      assert.include((yield* browser.get(targetOf(wrong))).text, "Wrong password")
      yield* send(browser, "/settings/account", "/settings/account/password", { password, new_password: "short" })
      yield* send(browser, "/settings/account", "/settings/account/email", {
        password: "not my password",
        email: "other@mail.example"
      })
      const stored = yield* pages
      assert.lengthOf(stored, 4)
      for (const page of stored) {
        for (const secret of ["not my password", "a new password", password, "value=\"short\""]) {
          assert.notInclude(page, secret)
        }
        assert.notMatch(page, /name="authenticity_token" value="[\w-]{20}/)
        assert.include(page, "name=\"authenticity_token\" value=\"<form-token>\"")
      }
      const setup = yield* send(browser, twoFactorPath, `${twoFactorPath}/setup`, { password })
      assert.include(setup.text, "class=\"secret\"")
      const at = TestBrowser.formsOf(setup).findIndex(({ action }) => action === `${twoFactorPath}/confirm`)
      const code = yield* browser.submit(setup, { code: "000000" }, at)
      assert.isAtLeast(code.status, 400)
      assert.include(code.text, "class=\"secret\"")
      assert.lengthOf(yield* pages, 4)
    }))

  it.effect("is the response itself for scripts, for browsers that do not name the request, and if it is too long", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const account = yield* user("dia")
      const browser = yield* opened("dia")
      for (const mode of ["cors", "same-origin", ""]) {
        assert.strictEqual((yield* refused(browser, "By a script", { "sec-fetch-mode": mode })).status, 422, mode)
      }
      const long = yield* refused(browser, "<".repeat(90_000))
      assert.strictEqual(long.status, 422)
      assert.include(long.text, "&lt;&lt;")
      assert.lengthOf(yield* sql`SELECT FROM form_pages WHERE account_id = ${account}`, 0)
    }))
})
