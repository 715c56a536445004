import { assert, layer } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { givenEmail } from "../../../src/services/identity/RegistrationRules.ts"
import { Registrations } from "../../../src/services/identity/Registrations.ts"
import { Users } from "../../../src/services/identity/Users.ts"
import { ProviderSignIns } from "../../../src/services/oidc/ProviderSignIns.ts"
import { nextStep, setUp } from "../../support/Authenticator.ts"
import { jumpingClock } from "../../support/JumpingClock.ts"
import { OidcProvider } from "../../support/OidcProvider.ts"
import { client, password, user } from "../../support/SignedIn.ts"
import * as TestBrowser from "../../support/TestBrowser.ts"
import { locationOf } from "../../support/TestBrowser.ts"
import { Postbox } from "../../support/WebServer.ts"
import { authorized, claimsOf, refusedBy, serverWith, session, signInAs, start } from "./ProviderSignInForm.ts"

const state = "__Host-provider"

const unproven = refusedBy("did not confirm who you are")

layer(serverWith({}), { excludeTestServices: true })("row 87: sign-in with an OpenID provider", (it) => {
  it.effect("F263: links the account with the verified address once, notifies the user, and leads back", () =>
    Effect.gen(function*() {
      const accountId = yield* user("ada")
      const sign = yield* (TestBrowser.make().get("/auth/sign_in?return_to=%2Ftags%2Fx"))
      assert.include(sign.text, `href="${start}?return_to=%2Ftags%2Fx">Sign in with Example ID<`)
      const { browser, page } = yield* signInAs({ ...claimsOf("ada"), email: "ADA@MAIL.example" })
      assert.deepStrictEqual([page.status, page.headers.get("location")], [302, "/tags/x"])
      assert.isTrue(browser.cookies.has(session))
      assert.isFalse(browser.cookies.has(state), "the state has ended")
      const letter = yield* Postbox.next
      assert.deepStrictEqual(
        [letter.to, letter.subject],
        ["ada@mail.example", "Sign-in with Example ID was added (local.example)"]
      )
      const sql = yield* SqlClient.SqlClient
      const { issuer } = yield* OidcProvider
      // The configured form: the provider's document has no trailing slash, and may get one.
      const stored = yield* sql`SELECT issuer FROM identities WHERE account_id = ${accountId}`
      assert.deepStrictEqual(stored, [{ issuer: `${issuer}/` }])
      yield* sql`UPDATE users SET email = 'new@mail.example' WHERE account_id = ${accountId}`
      // Now the subject counts, whatever the address.
      const again = yield* signInAs({ sub: "subject of ada", email: "someone@mail.example", email_verified: false })
      assert.strictEqual(again.page.headers.get("location"), "/tags/x")
      assert.include((yield* again.browser.get("/settings/account")).text, "@ada@local.example")
    }))

  it.effect("continues to an app that asked for authorization, and starts a new session", () =>
    Effect.gen(function*() {
      yield* user("bert")
      const { clientId, redirectUri } = yield* client("read")
      const query = new URLSearchParams({ client_id: clientId, redirect_uri: redirectUri, response_type: "code" })
      const provider = yield* OidcProvider
      provider.become(claimsOf("bert"))
      const browser = TestBrowser.make()
      browser.cookies.set(session, "x".repeat(43))
      const led = yield* browser.get(`/oauth/authorize?${query}`)
      const to = locationOf(led).searchParams.get("return_to") ?? ""
      const done = yield* browser.get(yield* authorized(browser, to))
      assert.strictEqual(done.headers.get("location"), to)
      assert.notStrictEqual(browser.cookies.get(session), "x".repeat(43))
      assert.include((yield* browser.get(to)).text, "Test app")
    }))

  it.effect("a path that is too long for a cookie leads to the first page", () =>
    Effect.gen(function*() {
      yield* user("bodo")
      const provider = yield* OidcProvider
      provider.become(claimsOf("bodo"))
      for (const [characters, length] of [[2_400, 2_400], [3_900, 5]] as const) {
        const browser = TestBrowser.make()
        const back = yield* authorized(browser, `/tags/${"x".repeat(characters - 6)}`)
        assert.isAtMost(browser.cookies.get(state)?.length ?? Infinity, 4_000)
        assert.strictEqual((yield* browser.get(back)).headers.get("location")?.length, length)
      }
    }))

  it.effect("ends after ten minutes", () =>
    Effect.gen(function*() {
      const [clock, provider, signIns] = [yield* jumpingClock, yield* OidcProvider, yield* ProviderSignIns]
      const { sealed, url } = yield* signIns.begin("/tags/x")
      const { searchParams } = new URL(yield* provider.follow(url), "https://none.example")
      clock.jump(10 * 60_000)
      const late = yield* clock.within(Effect.flip(signIns.finish(searchParams, sealed)))
      assert.deepInclude(late, { _tag: "ProviderRefused", reason: "late" })
    }))

  it.effect("links no unverified, missing, look-alike or other address, and no unconfirmed account", () =>
    Effect.gen(function*() {
      yield* user("cleo")
      for (
        const claims of [
          { email: "cleo@mail.example" },
          { email: "cleo@mail.example", email_verified: false },
          { email: "cleo@mail.example", email_verified: "true" },
          { email: "cleo@mail.example", email_verified: 1 },
          { email_verified: true },
          { email: ["cleo@mail.example"], email_verified: true },
          { email: "cle\u043E@mail.example", email_verified: true },
          { email: "cleo@mai\u04CF.example", email_verified: true },
          { email: "cleo@mail.example.", email_verified: true },
          { email: "cleo@mail.example\0", email_verified: true },
          { email: "\"cleo\"@mail.example", email_verified: true },
          { email: "cleo+x@mail.example", email_verified: true },
          { email: "a@b.example,cleo@mail.example", email_verified: true }
        ]
      ) {
        const found = yield* signInAs({ sub: `not cleo ${JSON.stringify(claims).length}`, ...claims })
        refusedBy("You have no account on this server.")(found)
        assert.strictEqual(found.page.status, 403)
      }
      const registrations = yield* Registrations
      yield* registrations.create({
        username: "dora",
        email: givenEmail("dora@mail.example"),
        password: Redacted.make(password),
        approved: true,
        confirmed: false
      })
      refusedBy("There is an unconfirmed sign-up with your email address. If it is yours")(
        yield* signInAs(claimsOf("dora"))
      )
    }))

  it.effect("a second person with the same address does not get the account", () =>
    Effect.gen(function*() {
      yield* user("emil")
      assert.strictEqual((yield* signInAs(claimsOf("emil"))).page.status, 302)
      refusedBy("belongs to another identity")(yield* signInAs({ ...claimsOf("emil"), sub: "emil's successor" }))
    }))

  it.effect("ID tokens with a wrong issuer, audience, nonce, time, subject or signature prove nothing", () =>
    Effect.gen(function*() {
      yield* user("fred")
      const provider = yield* OidcProvider
      const now = Math.floor(Date.now() / 1_000)
      for (
        const mistakes of [
          { claims: { iss: "https://evil.example" } },
          { claims: { aud: "another client" } },
          { claims: { aud: ["murmuration", "another"], azp: "another" } },
          { claims: { nonce: "of another sign-in" } },
          { claims: { nonce: undefined } },
          { claims: { exp: now - 60 } },
          { claims: { exp: undefined } },
          { claims: { sub: "" } },
          { claims: { sub: "subj\u00E9ct" } },
          { claims: { sub: "x".repeat(256) } },
          { claims: { sub: undefined } },
          { signature: "none" as const },
          { signature: "other" as const },
          { iss: "https://evil.example" },
          { bare: true, info: { sub: "somebody else" } }
        ]
      ) {
        provider.err(mistakes)
        unproven(yield* signInAs(claimsOf("fred")))
      }
      provider.err({})
      assert.strictEqual((yield* signInAs(claimsOf("fred"))).page.status, 302)
    }))

  it.effect("a callback works once, in the browser that started it, with its state and an unused code", () =>
    Effect.gen(function*() {
      yield* user("gina")
      const provider = yield* OidcProvider
      provider.err({ reusable: true })
      provider.become(claimsOf("gina"))
      const late = refusedBy("or was done in another browser")
      const browser = TestBrowser.make()
      const back = yield* authorized(browser)
      const stranger = TestBrowser.make()
      late({ browser: stranger, page: yield* stranger.get(back) })
      yield* authorized(stranger)
      late({ browser: stranger, page: yield* stranger.get(back) })
      const sealed = browser.cookies.get(state) ?? ""
      assert.isBelow(sealed.length, 4_000)
      assert.strictEqual((yield* browser.get(back)).status, 302)
      const thief = TestBrowser.make()
      thief.cookies.set(state, sealed)
      late({ browser: thief, page: yield* thief.get(back) })
      for (const forged of ["", "AAAA", sealed.slice(0, -4), `${sealed}A`, "x".repeat(5_000)]) {
        thief.cookies.set(state, forged)
        late({ browser: thief, page: yield* thief.get(back) })
      }
      provider.err({})
      const other = TestBrowser.make()
      const fresh = yield* authorized(other)
      const { searchParams } = new URL(back, "https://none.example")
      const mixed = new URL(fresh, "https://none.example")
      mixed.searchParams.set("code", searchParams.get("code") ?? "")
      unproven({ browser: other, page: yield* other.get(mixed.pathname + mixed.search) })
      const refusing = TestBrowser.make()
      const denied = new URL(yield* authorized(refusing), "https://none.example")
      denied.searchParams.delete("code")
      denied.searchParams.set("error", "access_denied")
      denied.searchParams.set("error_description", "<script>alert(1)</script>")
      const page = yield* refusing.get(denied.pathname + denied.search)
      unproven({ browser: refusing, page })
      assert.notInclude(page.text, "alert(1)")
    }))

  it.effect("new keys of the provider are fetched when they are needed, RS256 and ES256", () =>
    Effect.gen(function*() {
      yield* user("hugo")
      const provider = yield* OidcProvider
      assert.strictEqual((yield* signInAs(claimsOf("hugo"))).page.status, 302)
      const [keys, documents] = [provider.count("/keys"), provider.count("/.well-known/openid-configuration")]
      assert.strictEqual((yield* signInAs(claimsOf("hugo"))).page.status, 302)
      assert.strictEqual(provider.count("/keys"), keys, "cached")
      for (const alg of ["ES256", "RS256"] as const) {
        provider.rotate(alg)
        assert.strictEqual((yield* signInAs(claimsOf("hugo"))).page.status, 302, alg)
      }
      assert.strictEqual(provider.count("/keys"), keys + 2)
      assert.strictEqual(provider.count("/.well-known/openid-configuration"), documents)
    }))

  it.effect("claims missing from the ID token are read from the userinfo endpoint", () =>
    Effect.gen(function*() {
      yield* user("ines")
      const provider = yield* OidcProvider
      provider.err({ bare: true })
      assert.strictEqual((yield* signInAs(claimsOf("ines"))).page.status, 302)
      provider.err({})
    }))

  it.effect("a second factor is still required; disabled and unapproved users are refused", () =>
    Effect.gen(function*() {
      const accountId = yield* user("jana")
      const owner = TestBrowser.make()
      yield* owner.signIn("jana")
      const { app } = yield* setUp(owner)
      yield* nextStep("jana")
      const { browser, page } = yield* signInAs({ ...claimsOf("jana"), amr: ["mfa"] })
      assert.strictEqual(page.headers.get("location"), "/auth/two_factor?return_to=%2Ftags%2Fx")
      assert.isFalse(browser.cookies.has(session))
      const second = yield* browser.get(page.headers.get("location") ?? "")
      const done = yield* browser.submit(second, { otp_attempt: app.code() })
      assert.deepStrictEqual([done.headers.get("location"), browser.cookies.has(session)], ["/tags/x", true])
      const users = yield* Users
      yield* users.change(accountId, { disabled: true })
      refusedBy("This account is disabled.")(yield* signInAs(claimsOf("jana")))
      yield* users.change(accountId, { disabled: false, approved: false })
      refusedBy("pending approval")(yield* signInAs(claimsOf("jana")))
    }))

  it.effect("a provider that is down does not affect sign-in by password", () =>
    Effect.gen(function*() {
      yield* user("lena")
      const provider = yield* OidcProvider
      const browser = TestBrowser.make()
      provider.become(claimsOf("lena"))
      const back = yield* authorized(browser)
      provider.err({ status: 503 })
      const page = yield* browser.get(back)
      assert.deepStrictEqual([page.status, page.text.includes("does not respond at the moment")], [503, true])
      assert.strictEqual((yield* browser.signIn("lena")).status, 302)
      provider.err({})
    }))
})
