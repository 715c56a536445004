import { assert, layer } from "@effect/vitest"
import { Effect, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { AccountId } from "../../../src/services/database/Ids.ts"
import { rowsOf } from "../../../src/services/database/Rows.ts"
import { Users } from "../../../src/services/identity/Users.ts"
import { Roles } from "../../../src/services/staff/Roles.ts"
import { nextStep, setUp } from "../../support/Authenticator.ts"
import { OidcProvider } from "../../support/OidcProvider.ts"
import { post, postJson } from "../../support/Requests.ts"
import { client, issueToken, user } from "../../support/SignedIn.ts"
import * as TestBrowser from "../../support/TestBrowser.ts"
import { Postbox } from "../../support/WebServer.ts"
import { claimsOf, serverWith, session, signInAs, start } from "./ProviderSignInForm.ts"

const form = `${start}/sign_up`

/** Returns the name of a user's role; empty for the default role. */
const roleOf = Effect.fnUntraced(function*(accountId: AccountId) {
  const sql = yield* SqlClient.SqlClient
  const rows = rowsOf(Schema.Struct({ name: Schema.String }))
  const [found] = yield* rows(sql`SELECT r.name FROM roles r JOIN users u ON u.role_id = r.id
    WHERE u.account_id = ${accountId}`)
  return found?.name
})
const userOf = (username: string) => Effect.flatMap(Users, (users) => users.findByUsername(username))

/** Arrives from the provider without an account; returns the page on which the person chooses a username. */
const arrive = Effect.fnUntraced(function*(claims: Readonly<Record<string, unknown>>) {
  const { browser, page } = yield* signInAs(claims)
  assert.strictEqual(page.headers.get("location"), form)
  assert.isFalse(browser.cookies.has(session))
  return { browser, page: yield* browser.get(form) }
})

const roles = [["admins", "Admin"], ["helpers", "Moderator"], ["lost", "No such role"], ["bosses", "owner"]] as const

layer(serverWith({ signUp: true, roles, trustFactors: true }, { registrations: "closed" }), {
  excludeTestServices: true
})("row 87: sign-up with an OpenID provider", (it) => {
  it.effect("a person without an account chooses a username, accepts the rules and is signed in", () =>
    Effect.gen(function*() {
      const { browser, page } = yield* arrive({ ...claimsOf("ada"), preferred_username: "Ádá Lovelace@corp.example" })
      assert.include(page.text, `value="Ada_Lovelace"`)
      assert.include(page.text, "Your address: ada@mail.example")
      assert.notInclude(page.text, `name="password"`)
      assert.notInclude(page.text, `name="email"`)
      const without = yield* browser.submit(page, { username: "ada" })
      assert.deepStrictEqual([without.status, without.text.includes("Service agreement must be accepted")], [422, true])
      const reserved = yield* browser.submit(without, { username: "admin", agreement: "1" })
      assert.deepStrictEqual([reserved.status, reserved.text.includes("is reserved")], [422, true])
      const done = yield* browser.submit(reserved, { username: "ada", agreement: "1", email: "other@mail.example" })
      assert.deepStrictEqual([done.status, done.headers.get("location")], [302, "/tags/x"])
      const user = Option.getOrThrow(yield* userOf("ada"))
      assert.deepInclude(user, { email: "ada@mail.example", confirmed: true, approved: true, passwordHash: undefined })
      assert.include((yield* browser.get("/settings/account")).text, "@ada@local.example")
      assert.strictEqual((yield* signInAs(claimsOf("ada"))).page.headers.get("location"), "/tags/x")
      const typed = yield* TestBrowser.make().signIn("ada", undefined, "")
      assert.strictEqual(typed.status, 422, "there is no password, not an empty one")
    }))

  it.effect("an address that the provider has not verified is confirmed by e-mail first", () =>
    Effect.gen(function*() {
      yield* user("bela")
      const { browser, page } = yield* arrive({ sub: "bela at work", email: "bela@mail.example" })
      const taken = yield* browser.submit(page, { username: "bela2", agreement: "1", email: "bela@mail.example" })
      assert.deepStrictEqual([taken.status, taken.text.includes("has already been taken")], [422, true])
      const done = yield* browser.submit(taken, { username: "bela2", agreement: "1", email: "bela2@mail.example" })
      assert.deepStrictEqual([done.status, browser.cookies.has(session)], [200, false])
      assert.include(done.text, "Open the link in it to finish your sign-up.")
      const again = yield* signInAs({ sub: "bela at work" })
      assert.include(again.page.text, "Confirm your email address first")
      const letter = yield* Postbox.next
      assert.strictEqual(letter.to, "bela2@mail.example")
    }))

  it.effect("of two browsers with one new identity, one gets the account; of two people, one the name", () =>
    Effect.gen(function*() {
      const [one, two] = [yield* arrive(claimsOf("cleo")), yield* arrive(claimsOf("cleo"))]
      const ends = yield* Effect.all([
        one.browser.submit(one.page, { username: "cleo", agreement: "1" }),
        two.browser.submit(two.page, { username: "cleo_too", agreement: "1" })
      ], { concurrency: "unbounded" })
      const signedIn = [one, two].filter(({ browser }) => browser.cookies.has(session))
      assert.strictEqual(signedIn.length, 1, ends.map(({ status }) => status).join())
      const late = signedIn[0] === one ? two : one
      const goesOn = yield* late.browser.submit(late.page, { username: "cleo3", agreement: "1" })
      assert.strictEqual(goesOn.headers.get("location"), `${start}?return_to=%2Ftags%2Fx`)
      assert.strictEqual((yield* signInAs(claimsOf("cleo"), late.browser)).page.headers.get("location"), "/tags/x")
      const both = yield* Effect.all([userOf("cleo"), userOf("cleo_too")])
      assert.strictEqual(both.filter(Option.isSome).length, 1)
      const [dora, other] = [yield* arrive(claimsOf("dora")), yield* arrive(claimsOf("dorothea"))]
      const races = yield* Effect.all([
        dora.browser.submit(dora.page, { username: "dora", agreement: "1" }),
        other.browser.submit(other.page, { username: "DORA", agreement: "1" })
      ], { concurrency: "unbounded" })
      assert.deepStrictEqual(races.map(({ status }) => status).toSorted(), [302, 422])
    }))

  it.effect("the form works only in the browser of the person, and once", () =>
    Effect.gen(function*() {
      const { browser, page } = yield* arrive(claimsOf("emil"))
      const sealed = browser.cookies.get("__Host-provider") ?? ""
      const stranger = TestBrowser.make()
      assert.strictEqual((yield* stranger.get(form)).headers.get("location"), "/auth/sign_in?return_to=%2Fhome")
      assert.strictEqual((yield* browser.submit(page, { username: "emil", agreement: "1" })).status, 302)
      assert.isFalse(browser.cookies.has("__Host-provider"))
      stranger.cookies.set("__Host-provider", sealed)
      assert.strictEqual((yield* stranger.get(form)).headers.get("location"), `${start}?return_to=%2Ftags%2Fx`)
    }))

  it.effect("groups grant and remove roles at each sign-in; the owner and unlisted roles are unchanged", () =>
    Effect.gen(function*() {
      const accountId = yield* user("fred")
      const claims = claimsOf("fred")
      const comes = (groups: unknown) => Effect.andThen(signInAs({ ...claims, groups }), roleOf(accountId))
      assert.strictEqual(yield* comes(["helpers"]), "Moderator")
      assert.strictEqual(yield* comes(["helpers", "admins", "others"]), "Admin")
      assert.strictEqual(yield* comes("helpers"), "Moderator")
      assert.strictEqual(yield* comes(["Helpers", "ADMINS", 7, null, "bosses", "lost"]), "")
      const [users, all] = [yield* Users, yield* Roles]
      const owner = Option.getOrThrow(yield* all.find("owner"))
      yield* users.change(accountId, { roleId: owner.id })
      assert.strictEqual(yield* comes(["helpers"]), "Owner")
      const sql = yield* SqlClient.SqlClient
      const logged = yield* sql`SELECT 1 FROM audit_log WHERE action = 'change_role' AND target_id = ${accountId}`
      assert.strictEqual(logged.length, 4)
    }))

  it.effect("a newcomer gets the role of their groups", () =>
    Effect.gen(function*() {
      const { browser, page } = yield* arrive({ ...claimsOf("gina"), groups: ["x", "helpers"] })
      yield* browser.submit(page, { username: "gina", agreement: "1" })
      const { accountId } = Option.getOrThrow(yield* userOf("gina"))
      assert.strictEqual(yield* roleOf(accountId), "Moderator")
    }))

  it.effect("if the operator trusts the provider's factors, only a sign-in without them asks for a code", () =>
    Effect.gen(function*() {
      yield* user("hugo")
      const browser = TestBrowser.make()
      yield* browser.signIn("hugo")
      yield* setUp(browser)
      yield* nextStep("hugo")
      const led = (amr: unknown) =>
        Effect.map(signInAs({ ...claimsOf("hugo"), amr }), ({ page }) => page.headers.get("location"))
      assert.strictEqual(yield* led(["pwd", "mfa"]), "/tags/x")
      assert.strictEqual(yield* led(["pwd"]), "/auth/two_factor?return_to=%2Ftags%2Fx")
      assert.strictEqual(yield* led("mfa"), "/auth/two_factor?return_to=%2Ftags%2Fx")
    }))

  it.effect("F263: a user without a password keeps the provider's identity, and confirms by a fresh sign-in", () =>
    Effect.gen(function*() {
      const { browser, page } = yield* arrive(claimsOf("ines"))
      yield* browser.submit(page, { username: "ines", agreement: "1" })
      const settings = yield* browser.get("/settings/account")
      assert.include(settings.text, "You have no password.")
      const formOf = (shown: TestBrowser.Page) =>
        TestBrowser.formsOf(shown).findIndex(({ action }) => action === "/settings/account/identity")
      const refusal = yield* browser.submit(settings, {}, formOf(settings))
      assert.deepStrictEqual([refusal.status, refusal.text.includes("Set a password first")], [403, true])
      const sql = yield* SqlClient.SqlClient
      // An identity of a former provider, which cannot sign in.
      yield* sql`INSERT INTO identities (issuer, subject, account_id, created_at, used_at)
        SELECT 'https://former.example/', subject, account_id, created_at, used_at - interval '1 day' FROM identities
        WHERE subject = 'subject of ines'`
      const both = yield* browser.get("/settings/account")
      assert.include(both.text, "Remove sign-in with former.example")
      const { issuer } = yield* OidcProvider
      const held = yield* browser.submit(both, { issuer: `${issuer}/` }, formOf(both))
      assert.deepStrictEqual([held.status, held.text.includes("Set a password first")], [403, true])
      assert.strictEqual(
        (yield* browser.submit(both, { issuer: "https://former.example/" }, formOf(both))).status,
        302
      )
      yield* Effect.repeat(Postbox.next, {
        until: ({ subject }) => subject === "Sign-in with former.example was removed (local.example)"
      })
      const settingsPage = yield* browser.get("/settings/account")
      assert.notInclude(settingsPage.text, "former.example")
      const token = yield* issueToken(Option.getOrThrow(yield* userOf("ines")).accountId, ["write"])
      const byApp = yield* postJson("/api/v1/accounts/delete", token, { password: "x" })
      assert.strictEqual(byApp.status, 403, "a token is no proof, however new the sign-in is")
      yield* sql`UPDATE sessions SET created_at = created_at - interval '11 minutes'`
      const stale = yield* browser.submit(settingsPage, { email: "new@mail.example" })
      assert.deepStrictEqual([stale.status, stale.text.includes("identity provider again to confirm")], [403, true])
      const provider = yield* OidcProvider
      provider.become(claimsOf("ines"))
      const led = yield* browser.get(`${start}?return_to=%2Fsettings%2Faccount`)
      const back = yield* browser.get(yield* provider.follow(led.headers.get("location") ?? ""))
      assert.strictEqual(back.headers.get("location"), "/settings/account")
      const fresh = yield* browser.get("/settings/account")
      assert.strictEqual((yield* browser.submit(fresh, { email: "new@mail.example" })).status, 302)
      const { app } = yield* setUp(browser, "")
      assert.match(app.code(), /^\d{6}$/)
      const left = yield* browser.submit(yield* browser.get("/settings/delete"))
      assert.include([200, 302], left.status, left.text)
      assert.include((yield* signInAs(claimsOf("ines"))).page.headers.get("location") ?? "", form, "unknown again")
    }))
})

layer(serverWith({ signUp: true, allowedGroups: ["staff", "students"] }, { registrations: "approval" }), {
  excludeTestServices: true
})("sign-up with an OpenID provider and approval", (it) => {
  it.effect("people outside the allowed groups have no access; others wait for a moderator", () =>
    Effect.gen(function*() {
      yield* user("ada")
      for (const groups of [undefined, [], ["Staff"], "staff students"]) {
        const { browser, page } = yield* signInAs({ ...claimsOf("ada"), groups })
        assert.deepStrictEqual([page.status, page.text.includes("may not sign in to this server")], [403, true])
        assert.isFalse(browser.cookies.has(session))
      }
      assert.strictEqual((yield* signInAs({ ...claimsOf("ada"), groups: ["staff"] })).page.status, 302)
      const { browser, page } = yield* arrive({ ...claimsOf("bela"), groups: "students" })
      assert.include(page.text, "Why do you want to join?")
      const done = yield* browser.submit(page, { username: "bela", agreement: "1", reason: "to learn" })
      assert.deepStrictEqual([done.status, browser.cookies.has(session)], [200, false])
      assert.include(done.text, "will now review your sign-up")
      const again = yield* signInAs({ ...claimsOf("bela"), groups: "students" })
      assert.include(again.page.text, "pending approval")
    }))
})

layer(serverWith({ only: true }, { registrations: "open" }), { excludeTestServices: true })(
  "a server without passwords",
  (it) => {
    it.effect("offers the provider and passkeys, and refuses passwords, sign-ups and resets", () =>
      Effect.gen(function*() {
        yield* user("ada")
        const browser = TestBrowser.make()
        const page = yield* browser.get("/auth/sign_in")
        assert.include(page.text, "Sign in with Example ID")
        assert.include(page.text, "Sign in with a passkey")
        for (const absent of [`type="password"`, "Forgot your password?", "New here?"]) {
          assert.notInclude(page.text, absent)
        }
        const token = { ...TestBrowser.formsOf(page)[0]?.fields }
        const body = new URLSearchParams({ ...token, email: "ada@mail.example", password: "correct horse battery" })
        const headers = { origin: "https://local.example" }
        const typed = yield* browser.request("/auth/sign_in", { method: "POST", body, headers })
        assert.deepStrictEqual([typed.status, typed.text.includes("does not accept passwords")], [422, true])
        assert.isFalse(browser.cookies.has(session))
        assert.strictEqual((yield* browser.get("/auth/sign_up")).headers.get("location"), "/auth/sign_in")
        assert.strictEqual((yield* browser.get("/auth/password/new")).status, 403)
        const reset = yield* browser.request("/auth/password", { method: "POST", body, headers })
        assert.strictEqual(reset.status, 403)
        const { credentials } = yield* client("read write")
        const app = yield* post("/oauth/token", { ...credentials, grant_type: "client_credentials", scope: "write" })
        const wish = {
          username: "bela",
          email: "bela@mail.example",
          password: "correct horse battery",
          agreement: true
        }
        const created = yield* postJson("/api/v1/accounts", app.body.access_token, wish)
        assert.deepStrictEqual([created.status, Option.isNone(yield* userOf("bela"))], [403, true])
        const instance = yield* browser.get("/api/v2/instance")
        assert.isFalse(instance.body.registrations.enabled)
        assert.strictEqual((yield* signInAs(claimsOf("ada"), browser)).page.status, 302)
        const passwordless = yield* signInAs(claimsOf("somebody"))
        assert.include(passwordless.page.text, "You have no account on this server.")
      }))
  }
)
