import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { publicUrl } from "../../support/Reads.ts"
import * as TestBrowser from "../../support/TestBrowser.ts"
import { Postbox, server } from "../../support/WebServer.ts"
import { invite } from "../v1/SignUpForm.ts"

/** Makes the fields that a person fills in. */
const written = (username: string, more: Record<string, string> = {}) => ({
  username,
  email: `${username}@mail.example`,
  password: "correct horse battery staple",
  agreement: "1",
  ...more
})

/** Opens the link of the last e-mail to an address. */
const confirmed = Effect.fnUntraced(function*(browser: ReturnType<typeof TestBrowser.make>) {
  const link = new URL(/https?:\/\/\S+/.exec((yield* Postbox.next).text)?.[0] ?? "")
  return yield* browser.get(link.pathname + link.search)
})

layer(server(), { excludeTestServices: true })("sign-up on an open server", (it) => {
  it.effect("asks for an address, confirms it by a link in an e-mail and the password, and leads Home", () =>
    Effect.gen(function*() {
      const browser = TestBrowser.make()
      const form = yield* browser.get("/auth/sign_up?lang=de")
      assert.strictEqual(form.status, 200)
      assert.notInclude(form.text, "name=\"reason\"")
      assert.notInclude(form.text, "name=\"date_of_birth\"")
      const sent = yield* browser.submit(form, written("olga"))
      assert.strictEqual(sent.status, 200)
      assert.include(sent.text, "Wir haben dir eine E-Mail geschickt")
      // Before the confirmation, a sign-in says what is missing.
      const early = yield* browser.signIn("olga", undefined, "correct horse battery staple")
      assert.strictEqual(early.status, 422)
      assert.include(early.text, "open the link in the email we sent you")
      const done = yield* confirmed(browser)
      assert.strictEqual(done.status, 200)
      assert.include(done.text, "href=\"/auth/sign_in")
      const signedIn = yield* browser.signIn("olga", undefined, "correct horse battery staple")
      assert.strictEqual(TestBrowser.locationOf(signedIn).pathname, "/home")
      // Signed-in users are not asked to sign up.
      assert.strictEqual(TestBrowser.locationOf(yield* browser.get("/auth/sign_up")).pathname, "/home")
    }))

  it.effect("keeps the input after a mistake, but no password", () =>
    Effect.gen(function*() {
      const browser = TestBrowser.make()
      const form = yield* browser.get("/auth/sign_up")
      const { agreement: _agreement, ...without } = written("petra")
      const refused = yield* browser.submit(form, without)
      assert.strictEqual(refused.status, 422)
      assert.include(refused.text, "role=\"alert\"")
      assert.include(refused.text, "value=\"petra\"")
      assert.include(refused.text, "value=\"petra@mail.example\"")
      assert.notInclude(refused.text, "correct horse")
      for (const wrong of [{ username: "pe tra" }, { email: "petra" }, { password: "short" }, { username: "" }]) {
        assert.strictEqual((yield* browser.submit(refused, written("petra", wrong))).status, 422, JSON.stringify(wrong))
      }
      const again = yield* browser.submit(refused, written("petra"))
      assert.strictEqual(again.status, 200)
      yield* Postbox.next
      const taken = yield* browser.submit(yield* browser.get("/auth/sign_up"), written("petra"))
      assert.strictEqual(taken.status, 422)
    }))
})

layer(server({ registrations: "approval" }), { excludeTestServices: true })("sign-up with a review", (it) => {
  it.effect("shows the rules, asks for age and reason, and says what happens next at every step", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      for (const [name, value] of [["min_age", 16], ["require_invite_text", true]] as const) {
        yield* sql`INSERT INTO settings (name, value, updated_at) VALUES (${name}, ${
          JSON.stringify(value)
        }::jsonb, ${new Date(0)})`
      }
      yield* sql`INSERT INTO rules (id, text, hint) VALUES (next_id(0), 'Be kind', 'To all')`
      const browser = TestBrowser.make()
      const form = yield* browser.get("/auth/sign_up")
      for (const part of ["Be kind", "To all", "at least 16 years old", "A moderator reviews each sign-up."]) {
        assert.include(form.text, part)
      }
      assert.match(form.text, /<textarea name="reason"[^>]* required/)
      const ages = ["", "2020-01-01", "not a date", "0000-00-00", "99999-01-01"]
      for (const date_of_birth of ages) {
        const refused = yield* browser.submit(form, written("quinn", { reason: "birds", date_of_birth }))
        assert.strictEqual(refused.status, 422, date_of_birth)
        assert.include(refused.text, ">birds</textarea>", date_of_birth)
      }
      const unreasoned = yield* browser.submit(form, written("quinn", { date_of_birth: "1990-01-01" }))
      assert.strictEqual(unreasoned.status, 422)
      const fields = written("quinn", { reason: "birds", date_of_birth: "1990-01-01" })
      const sent = yield* browser.submit(form, fields)
      assert.strictEqual(sent.status, 200)
      assert.include(sent.text, "After you confirm, a moderator reviews your sign-up. We will email you the decision.")
      const done = yield* confirmed(browser)
      assert.match(done.text, /A moderator of \S+ will now review your sign-up/)
      const early = yield* browser.signIn("quinn", undefined, "correct horse battery staple")
      assert.strictEqual(early.status, 422)
      assert.include(early.text, "Your sign-up is pending approval by a moderator.")
      yield* sql`UPDATE users SET approved = true WHERE email LIKE 'quinn@%'`
      const signedIn = yield* browser.signIn("quinn", undefined, "correct horse battery staple")
      assert.strictEqual(TestBrowser.locationOf(signedIn).pathname, "/home")
    }))
})

layer(server({ registrations: "closed" }), { excludeTestServices: true })("sign-up on a closed server", (it) => {
  it.effect("is refused on the page and by a form that was already open, except with an invite", () =>
    Effect.gen(function*() {
      const browser = TestBrowser.make()
      const page = yield* browser.get("/auth/sign_up")
      assert.strictEqual(page.status, 403)
      assert.include(page.text, "This server is not accepting new sign-ups at the moment.")
      yield* invite("WELCOME2", { by: "host", maxUses: 1 })
      const form = yield* browser.get("/invite/WELCOME2")
      assert.strictEqual(form.status, 200)
      const { fields } = TestBrowser.formsOf(form)[0]!
      const forged = yield* browser.request("/auth/sign_up", {
        method: "POST",
        body: new URLSearchParams({ ...fields, ...written("rosa") }),
        headers: { origin: publicUrl }
      })
      assert.strictEqual(forged.status, 403)
      const other = TestBrowser.make()
      const late = yield* other.get("/invite/WELCOME2")
      assert.strictEqual((yield* browser.submit(form, written("rosa"))).status, 200)
      // The invite was used up while another page was open.
      const used = yield* other.submit(late, written("sven"))
      assert.strictEqual(used.status, 401)
      assert.include(used.text, "It has expired, was used up, or never existed.")
      assert.strictEqual((yield* other.get("/invite/WELCOME2")).status, 401)
      assert.strictEqual((yield* other.get("/invite/UNKNOWN2")).status, 404)
    }))
})
