import { NodeCrypto } from "@effect/platform-node"
import { assert, describe, layer } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { Limits } from "../../../src/http/guard/Limits.ts"
import * as PasswordHashing from "../../../src/layers/PasswordHashing.ts"
import { Registrations } from "../../../src/services/identity/Registrations.ts"
import { Users } from "../../../src/services/identity/Users.ts"
import { client, get, password, post, server, user } from "../../support/SignInServer.ts"
import * as TestBrowser from "../../support/TestBrowser.ts"
import { formsOf, locationOf } from "../../support/TestBrowser.ts"

const signInForm = Effect.fnUntraced(function*(browser: ReturnType<typeof TestBrowser.make>) {
  return formsOf(yield* browser.get("/auth/sign_in"))[0]?.fields ?? {}
})

layer(server(), { excludeTestServices: true })("signing in", (it) => {
  it.effect("starts a session with a cookie of its own, and signing out ends it", () =>
    Effect.gen(function*() {
      yield* user("paul")
      const browser = TestBrowser.make()
      const wrong = yield* browser.submit(yield* browser.get("/auth/sign_in"), {
        email: "paul@mail.example",
        password: "wrong horse"
      })
      assert.strictEqual(wrong.status, 422)
      assert.include(wrong.text, "The e-mail address or the password is wrong.")
      assert.include(wrong.text, `value="paul@mail.example"`)
      assert.isFalse(browser.cookies.has("__Host-session"))
      const done = yield* browser.signIn("paul", wrong)
      assert.strictEqual(done.headers.get("location"), "/oauth/authorized_applications")
      const secret = browser.cookies.get("__Host-session")
      assert.match(secret ?? "", /^[\w-]{43}$/)
      const page = yield* browser.get("/oauth/authorized_applications")
      assert.include(page.text, "Signed in as @paul")
      assert.strictEqual((yield* browser.get("/auth/sign_in")).status, 302, "nobody signs in twice")
      yield* browser.submit(page)
      assert.isFalse(browser.cookies.has("__Host-session"))
      browser.cookies.set("__Host-session", secret ?? "")
      assert.strictEqual((yield* browser.get("/oauth/authorized_applications")).status, 302, "the secret is worthless")
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
          "\r\nX: y"
        ]
      ) {
        const browser = TestBrowser.make()
        const page = yield* browser.get(`/auth/sign_in?${new URLSearchParams({ return_to: to })}`)
        const done = yield* browser.signIn("quirin", page)
        assert.strictEqual(done.headers.get("location"), "/oauth/authorized_applications", to)
      }
    }))

  it.effect("tells who knows the password what keeps the user out, and nobody else", () =>
    Effect.gen(function*() {
      const [registrations, users, sql] = [yield* Registrations, yield* Users, yield* SqlClient.SqlClient]
      const make = (username: string, approved: boolean, confirmed: boolean) =>
        registrations.create({
          username,
          email: `${username}@mail.example`,
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
        ["unconfirmed", "Confirm your e-mail address first"],
        ["pending", "waiting for the approval"],
        ["disabled", "This account is disabled."],
        ["suspended", "This account is disabled."]
      ]
      for (const [username, text] of told) {
        const browser = TestBrowser.make()
        assert.include((yield* browser.signIn(username)).text, text)
        const page = yield* browser.get("/auth/sign_in")
        const stranger = yield* browser.submit(page, { email: `${username}@mail.example`, password: "guess" })
        assert.include(stranger.text, "The e-mail address or the password is wrong.")
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

  it.effect("apps that were allowed are listed and can be withdrawn", () =>
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
      assert.include(list.text, "Everything in your account (read-only)")
      yield* browser.submit(list)
      assert.include((yield* browser.get("/oauth/authorized_applications")).text, "You have not allowed any app")
      assert.deepStrictEqual((yield* get("/oauth/token/info", body.access_token)).body, {
        error: "The access token was revoked"
      })
      assert.strictEqual((yield* post("/oauth/token", { ...grant, code: waiting })).status, 400, "codes end, too")
    }))
})

describe("row 72: forms of other pages", () => {
  layer(server(), { excludeTestServices: true })((it) => {
    it.effect("are refused on every cookie route, whatever they bring along", () =>
      Effect.gen(function*() {
        yield* user("tina")
        const app = yield* client("read")
        const victim = TestBrowser.make()
        yield* victim.signIn("tina")
        const attacker = TestBrowser.make()
        const foreign = yield* signInForm(attacker)
        const own = formsOf(yield* victim.get("/oauth/authorized_applications"))[0]?.fields["authenticity_token"] ?? ""
        const request = { response_type: "code", client_id: app.clientId, redirect_uri: app.redirectUri }
        const routes: ReadonlyArray<[method: string, path: string, fields: Record<string, string>]> = [
          ["POST", "/auth/sign_in", { email: "tina@mail.example", password }],
          ["POST", "/auth/sign_out", {}],
          ["DELETE", "/auth/sign_out", {}],
          ["POST", "/auth/password", { email: "tina@mail.example" }],
          ["POST", "/auth/password/edit", { reset_password_token: "x", password }],
          ["POST", "/auth/confirmation", { email: "tina@mail.example" }],
          ["POST", "/oauth/authorize", request],
          ["DELETE", "/oauth/authorize", request],
          ["POST", "/oauth/authorized_applications/1", {}],
          ["DELETE", "/oauth/authorized_applications/1", {}]
        ]
        const attempts: ReadonlyArray<[string, Record<string, string>, token: string]> = [
          ["another site, without a token", { origin: "https://evil.test" }, ""],
          [
            "another site, with the attacker's token",
            { origin: "https://evil.test" },
            foreign["authenticity_token"] ?? ""
          ],
          ["another site, with the right token", { origin: "https://evil.test" }, own],
          ["a sandboxed frame, with the right token", { origin: "null" }, own],
          ["a neighbour in the domain", { origin: "https://sub.local.example" }, own],
          ["http in place of https", { origin: "http://local.example" }, own],
          ["no origin, but a site that is not ours", { "sec-fetch-site": "cross-site" }, own],
          [
            "our page, with the attacker's token",
            { origin: "https://local.example" },
            foreign["authenticity_token"] ?? ""
          ],
          ["our page, without a token", { origin: "https://local.example" }, ""]
        ]
        for (const [method, path, fields] of routes) {
          for (const [who, headers, token] of attempts) {
            const body = new URLSearchParams({ ...fields, authenticity_token: token })
            const answer = yield* victim.request(path, { method, body, headers })
            assert.strictEqual(answer.status, 403, `${method} ${path} by ${who}`)
            assert.include(answer.text, "This form cannot be used any more")
          }
        }
        assert.include((yield* victim.get("/oauth/authorized_applications")).text, "Signed in as @tina")
      }))

    it.effect("a token of another session, or of none, is not one of this session", () =>
      Effect.gen(function*() {
        yield* user("ulla")
        const browser = TestBrowser.make()
        const before = yield* browser.get("/auth/sign_in")
        yield* browser.signIn("ulla", before)
        assert.strictEqual((yield* browser.signIn("ulla", before)).status, 403)
      }))

    it.effect("bearer routes take no cookies, and cookie routes no bearer", () =>
      Effect.gen(function*() {
        yield* user("vera")
        const browser = TestBrowser.make()
        yield* browser.signIn("vera")
        assert.strictEqual((yield* browser.get("/oauth/userinfo")).status, 401)
        assert.strictEqual((yield* browser.get("/api/v1/emails/check_confirmation")).status, 401)
        const bearer = browser.cookies.get("__Host-session") ?? ""
        assert.strictEqual((yield* get("/oauth/authorized_applications", bearer)).status, 302)
        assert.strictEqual((yield* get("/oauth/userinfo", bearer)).status, 401)
      }))
  })
})

layer(server({}, { limits: Limits.layerMemory }), { excludeTestServices: true })("row 75: guesses", (it) => {
  it.effect("25 sign-ins in 5 minutes from one address, the right password included", () =>
    Effect.gen(function*() {
      yield* user("wanda")
      const browser = TestBrowser.make()
      const form = yield* signInForm(browser)
      const guess = (body: Record<string, string>) =>
        browser.request("/auth/sign_in", {
          method: "POST",
          body: new URLSearchParams({ ...form, ...body }),
          headers: { origin: "https://local.example" }
        })
      const statuses = yield* Effect.forEach(
        Array.from({ length: 25 }),
        (_, i) =>
          Effect.map(guess({ email: `guess${i}@mail.example`, password: "guess guess" }), ({ status }) => status)
      )
      assert.deepStrictEqual(new Set(statuses), new Set([422]))
      const refused = yield* guess({ email: "wanda@mail.example", password })
      assert.strictEqual(refused.status, 429)
      assert.include(refused.text, "Too many tries")
      assert.strictEqual(refused.headers.get("x-ratelimit-remaining"), "0")
      const letters = yield* Effect.forEach(
        Array.from({ length: 6 }),
        () =>
          Effect.map(
            browser.request("/auth/password", {
              method: "POST",
              body: new URLSearchParams({ ...form, email: "Wanda@mail.example" }),
              headers: { origin: "https://local.example" }
            }),
            ({ status }) => status
          )
      )
      assert.deepStrictEqual(letters, [200, 200, 200, 200, 200, 429])
    }))
})

const argon2 = PasswordHashing.layer.pipe(Layer.provide(NodeCrypto.layer))

layer(server({}, { credentials: argon2 }), { excludeTestServices: true })("row 77: unknown users", (it) => {
  it.effect("are answered like a wrong password, at the same cost", () =>
    Effect.gen(function*() {
      yield* user("xaver")
      const browser = TestBrowser.make()
      const page = yield* browser.get("/auth/sign_in")
      const attempt = (email: string) => browser.submit(page, { email, password: "not the password" })
      const normal = (text: string, email: string) =>
        text.replaceAll(email, "").replace(/name="authenticity_token" value="[^"]*"/, "")
      const [known, unknown] = ["xaver@mail.example", "nobody@mail.example"]
      const [first, second] = [yield* attempt(known), yield* attempt(unknown)]
      assert.strictEqual(first.status, second.status)
      assert.strictEqual(normal(first.text, known), normal(second.text, unknown))
      // CPU time, hashing on its threads included: what other processes do on this machine is not measured.
      const cost = Effect.fnUntraced(function*(email: string) {
        const start = process.cpuUsage()
        yield* attempt(email)
        const { system, user } = process.cpuUsage(start)
        return user + system
      })
      const pairs = yield* Effect.replicateEffect(Effect.all([cost(known), cost(unknown)]), 12)
      const median = (index: 0 | 1) => pairs.map((pair) => pair[index]).toSorted((a, b) => a - b)[6]!
      const ratio = median(0) / median(1)
      assert.isAbove(ratio, 0.5)
      assert.isBelow(ratio, 2)
    }))
})
