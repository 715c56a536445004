import { assert, layer } from "@effect/vitest"
import { Effect, Redacted, Schema } from "effect"
import { SqlClient } from "effect/sql"

import { redirect } from "../../../src/http/html/HtmlPage.ts"
import { givenEmail } from "../../../src/services/identity/RegistrationRules.ts"
import { Registrations } from "../../../src/services/identity/Registrations.ts"
import { Users } from "../../../src/services/identity/Users.ts"
import { get, post } from "../../support/Requests.ts"
import { client, password, user } from "../../support/SignedIn.ts"
import * as TestBrowser from "../../support/TestBrowser.ts"
import { locationOf } from "../../support/TestBrowser.ts"
import { server } from "../../support/WebServer.ts"

layer(server(), { excludeTestServices: true })("sign-in", (it) => {
  it.effect("starts a session with its own cookie, and signing out ends it", () =>
    Effect.gen(function*() {
      yield* user("paul")
      const browser = TestBrowser.make()
      const wrong = yield* browser.submit(yield* browser.get("/auth/sign_in"), {
        email: "paul@mail.example",
        password: "wrong horse"
      })
      assert.strictEqual(wrong.status, 422)
      assert.include(wrong.text, "Wrong email address or password.")
      assert.include(wrong.text, `value="paul@mail.example"`)
      assert.isFalse(browser.cookies.has("__Host-session"))
      const done = yield* browser.signIn("paul", wrong)
      assert.strictEqual(done.headers.get("location"), "/home")
      const secret = browser.cookies.get("__Host-session")
      assert.match(secret ?? "", /^[\w-]{43}$/)
      const page = yield* browser.get("/oauth/authorized_applications")
      assert.include((yield* browser.get("/settings/account")).text, "@paul")
      assert.strictEqual((yield* browser.get("/auth/sign_in")).status, 302, "nobody signs in twice")
      yield* browser.submit(page)
      assert.isFalse(browser.cookies.has("__Host-session"))
      browser.cookies.set("__Host-session", secret ?? "")
      assert.strictEqual((yield* browser.get("/oauth/authorized_applications")).status, 302, "the secret is worthless")
    }))

  it.effect("members of a copied Mastodon server learn why they sign in again, until they did", () =>
    Effect.gen(function*() {
      yield* user("petra")
      const browser = TestBrowser.make()
      assert.notInclude((yield* browser.get("/auth/sign_in")).text, "runs other software")
      browser.cookies.set("_session_id", "a-session-of-mastodon")
      const page = yield* browser.get("/home")
      assert.strictEqual(page.status, 302)
      const { pathname, search } = locationOf(page)
      const asked = yield* browser.get(`${pathname}${search}`)
      assert.include(asked.text, "This server now runs other software")
      yield* browser.signIn("petra", asked)
      assert.isFalse(browser.cookies.has("_session_id"))
      assert.include((yield* browser.get("/settings/account")).text, "@petra")
    }))

  it.effect("row 43: leads back to our own pages only", () =>
    Effect.gen(function*() {
      yield* user("quirin")
      for (
        const to of [
          "https://evil.test/oauth/authorize?x",
          "//evil.test/oauth/authorize?x",
          "/\\evil.test",
          "/oauth/authorize/../../evil",
          "/oauth/authorized_applications/../x",
          "/web/%2Fevil.test",
          "javascript:alert(1)",
          "\r\nX: y",
          "/oauth/authorize?a\nb",
          "/oauth/authorize?a\r\nset-cookie: x=y",
          "/oauth/authorize?\u{1F600}",
          "/oauth/authorize?\ud83d",
          "/oauth/authorized_applications\n"
        ]
      ) {
        const browser = TestBrowser.make()
        const page = yield* browser.get(`/auth/sign_in?${new URLSearchParams({ return_to: to })}`)
        const done = yield* browser.signIn("quirin", page)
        assert.strictEqual(done.headers.get("location"), "/home", to)
      }
    }))

  it.prop(
    "F20: any text leads to an address that is valid in a header",
    [Schema.String],
    ([text]) => {
      const { headers } = redirect(`/oauth/authorize?${text}`)
      assert.match(headers["location"] ?? "", /^[\x21-\x7e]+$/)
      assert.strictEqual(redirect("/a?b=%20&c#d").headers["location"], "/a?b=%20&c#d")
    }
  )

  it.effect("explains why a user cannot sign in only if the password is right", () =>
    Effect.gen(function*() {
      const [registrations, users, sql] = [yield* Registrations, yield* Users, yield* SqlClient.SqlClient]
      const make = (username: string, approved: boolean, confirmed: boolean) =>
        registrations.create({
          username,
          email: givenEmail(`${username}@mail.example`),
          password: Redacted.make(password),
          approved,
          confirmed
        })
      yield* make("unconfirmed", true, false)
      yield* make("pending", false, true)
      yield* users.change(yield* make("disabled", true, true), { disabled: true })
      const suspended = yield* make("suspended", true, true)
      yield* sql`UPDATE accounts SET suspended_at = created_at WHERE id = ${suspended}`
      const told: ReadonlyArray<[string, string]> = [
        ["unconfirmed", "Confirm your email address first"],
        ["pending", "pending approval"],
        ["disabled", "This account is disabled."],
        ["suspended", "This account is disabled."]
      ]
      for (const [username, text] of told) {
        const browser = TestBrowser.make()
        assert.include((yield* browser.signIn(username)).text, text)
        const page = yield* browser.get("/auth/sign_in")
        const stranger = yield* browser.submit(page, { email: `${username}@mail.example`, password: "guess" })
        assert.include(stranger.text, "Wrong email address or password.")
      }
    }))

  it.effect("a user has 10 sessions at most, and a disabled one none", () =>
    Effect.gen(function*() {
      const accountId = yield* user("rosa")
      const browsers = Array.from({ length: 11 }, () => TestBrowser.make())
      yield* Effect.forEach(browsers, (browser) => browser.signIn("rosa"))
      const signedIn = Effect.forEach(browsers, (browser) =>
        Effect.map(browser.get("/oauth/authorized_applications"), ({ status }) => status === 200))
      assert.deepStrictEqual(yield* signedIn, [
        false,
        ...Array.from({ length: 10 }, () =>
          true)
      ])
      yield* (yield* Users).change(accountId, { disabled: true })
      assert.isFalse((yield* signedIn).includes(true))
    }))

  it.effect("authorized apps are listed and can be revoked", () =>
    Effect.gen(function*() {
      yield* user("sven")
      const browser = TestBrowser.make()
      yield* browser.signIn("sven")
      const app = yield* client("read")
      const asked = `/oauth/authorize?${new URLSearchParams({
        response_type: "code",
        client_id: app.clientId,
        redirect_uri: app.redirectUri
      })}`
      const code = locationOf(yield* browser.submit(yield* browser.get(asked))).searchParams.get("code") ?? ""
      const grant = { grant_type: "authorization_code", code, redirect_uri: app.redirectUri, ...app.credentials }
      const { body } = yield* post("/oauth/token", grant)
      const waiting = locationOf(yield* browser.get(asked)).searchParams.get("code") ?? ""
      const list = yield* browser.get("/oauth/authorized_applications")
      assert.include(list.text, "<h2>Test app</h2>")
      assert.include(list.text, "Everything in your account (Read-only)")
      yield* browser.submit(list)
      assert.include((yield* browser.get("/oauth/authorized_applications")).text, "No apps have access to your account")
      assert.deepStrictEqual((yield* get("/oauth/token/info", body.access_token)).body, {
        error: "The access token was revoked"
      })
      assert.strictEqual((yield* post("/oauth/token", { ...grant, code: waiting })).status, 400, "codes end, too")
    }))
})
