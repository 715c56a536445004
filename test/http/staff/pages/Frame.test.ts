import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { newPerson } from "../../../support/Api.ts"
import { TestServer } from "../../../support/Server.ts"
import { staffMember } from "../../../support/Staff.ts"
import { staffBrowser } from "../../../support/StaffBrowser.ts"
import { locationOf } from "../../../support/TestBrowser.ts"

layer(TestServer.layer(), { excludeTestServices: true })("the staff area", (it) => {
  it.effect("S-252: a visitor is sent to sign in and returns to the requested page", () =>
    Effect.gen(function*() {
      const owner = yield* staffMember("chief", ["administrator"])
      const browser = yield* staffBrowser()
      const sent = yield* browser.get("/admin?a=b")
      assert.strictEqual(sent.status, 302)
      const signIn = locationOf(sent)
      assert.deepStrictEqual([signIn.pathname, signIn.searchParams.get("return_to")], ["/auth/sign_in", "/admin?a=b"])
      const back = yield* browser.signIn(owner.username, yield* browser.follow(sent), owner.password)
      assert.strictEqual(back.headers.get("location"), "/admin?a=b")
      const page = yield* browser.follow(back)
      assert.strictEqual(page.status, 200)
      assert.include(page.text, "Dashboard")
      assert.include(page.text, `aria-current="page"`)
    }))

  it.effect("S-252: a user without the role is refused, and a removed role applies at the next request", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const nobody = yield* staffBrowser(yield* newPerson("nobody"))
      const refused = yield* nobody.get("/admin")
      assert.strictEqual(refused.status, 403)
      assert.notInclude(refused.text, "<nav")
      const person = yield* staffMember("viewer", ["viewDashboard"])
      const viewer = yield* staffBrowser(person)
      assert.strictEqual((yield* viewer.get("/admin")).status, 200)
      yield* sql`UPDATE users SET role_id = -99 WHERE account_id = ${person.accountId}`
      assert.strictEqual((yield* viewer.get("/admin")).status, 403)
      yield* sql`UPDATE users SET role_id = ${person.roleId}, approved = false WHERE account_id = ${person.accountId}`
      assert.strictEqual((yield* viewer.get("/admin")).status, 403)
      yield* sql`UPDATE users SET disabled = true, approved = true WHERE account_id = ${person.accountId}`
      assert.strictEqual((yield* viewer.get("/admin")).status, 302)
    }))

  it.effect("BREACH: its pages are not compressed, cached or framed, and run no scripts", () =>
    Effect.gen(function*() {
      const browser = yield* staffBrowser(yield* staffMember("headers", ["administrator"]))
      const { headers, text } = yield* browser.request("/admin/accounts", {
        headers: { "accept-encoding": "br, gzip" }
      })
      assert.isNull(headers.get("content-encoding"))
      assert.isAbove(text.length, 2_048, text)
      assert.strictEqual(headers.get("cache-control"), "private, no-store, no-transform")
      assert.include(
        headers.get("content-security-policy") ?? "",
        "default-src 'none'; style-src 'self'; img-src 'self'"
      )
      assert.notInclude(headers.get("content-security-policy") ?? "", "script-src")
      assert.strictEqual(headers.get("x-frame-options"), "DENY")
      assert.notMatch(text, /<script|<style|style="|onclick/)
    }))
})
