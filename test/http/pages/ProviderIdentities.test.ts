import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import identityIssuers from "../../../migrations/0106_identity_issuers.ts"
import { OidcProvider } from "../../support/OidcProvider.ts"
import { password, user } from "../../support/SignedIn.ts"
import * as TestBrowser from "../../support/TestBrowser.ts"
import { authorized, claimsOf, refusedBy, serverWith, session, signInAs } from "./ProviderSignInForm.ts"

layer(serverWith({}), { excludeTestServices: true })("row 87: identities at an OpenID provider", (it) => {
  it.effect("F263: an identity that was stored in the spelling of the document is still known", () =>
    Effect.gen(function*() {
      const accountId = yield* user("anna")
      yield* signInAs(claimsOf("anna"))
      const sql = yield* SqlClient.SqlClient
      yield* sql`UPDATE identities SET issuer = rtrim(issuer, '/') WHERE account_id = ${accountId}`
      const unverified = { sub: "subject of anna", email: "someone@mail.example", email_verified: false }
      refusedBy("You have no account on this server.")(yield* signInAs(unverified))
      // A second row, for an identity that was linked again in the meantime.
      yield* identityIssuers
      yield* sql`INSERT INTO identities SELECT rtrim(issuer, '/'), subject, account_id, created_at, used_at
        FROM identities WHERE account_id = ${accountId}`
      yield* identityIssuers
      assert.strictEqual((yield* signInAs(unverified)).page.headers.get("location"), "/tags/x")
      assert.lengthOf(yield* sql`SELECT FROM identities WHERE account_id = ${accountId}`, 1)
    }))

  it.effect("F263: a callback of another tab does not end the sign-in of this one", () =>
    Effect.gen(function*() {
      yield* user("greta")
      const provider = yield* OidcProvider
      provider.become(claimsOf("greta"))
      const browser = TestBrowser.make()
      const first = yield* authorized(browser)
      const second = yield* authorized(browser)
      refusedBy("or was done in another browser")({ browser, page: yield* browser.get(first) })
      yield* browser.get(`${new URL(second, "https://none.example").pathname}?state=guessed`)
      assert.strictEqual((yield* browser.get(second)).headers.get("location"), "/tags/x")
      assert.isTrue(browser.cookies.has(session))
    }))

  it.effect("a user with a password removes the identity, which is then unknown", () =>
    Effect.gen(function*() {
      yield* user("karl")
      const { browser } = yield* signInAs(claimsOf("karl"))
      const page = yield* browser.get("/settings/account")
      assert.include(page.text, "Remove sign-in with Example ID")
      const at = TestBrowser.formsOf(page).findIndex(({ action }) => action === "/settings/account/identity")
      const wrong = yield* browser.submit(page, { password: "a guess at it" }, at)
      assert.deepStrictEqual([wrong.status, wrong.text.includes("Wrong password.")], [403, true])
      const done = yield* browser.submit(wrong, { password }, at)
      assert.strictEqual(done.headers.get("location"), "/settings/account?changed=identity")
      assert.notInclude((yield* browser.get("/settings/account")).text, "Example ID")
      // The e-mail address still belongs to the same person, so the next sign-in links it again.
      assert.strictEqual((yield* signInAs(claimsOf("karl"))).page.status, 302)
    }))
})
