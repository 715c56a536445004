import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { get, send } from "../../support/Requests.ts"
import { password } from "../../support/SignedIn.ts"
import * as TestBrowser from "../../support/TestBrowser.ts"
import { Postbox, server } from "../../support/WebServer.ts"
import { invite } from "../v1/SignUpForm.ts"

layer(server({ registrations: "closed" }), { excludeTestServices: true })("the page of an invite", (it) => {
  it.effect("S-017: a newcomer signs up with it, and it is used up", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      yield* invite("NEWCMER2", { by: "inviter", maxUses: 1 })
      const browser = TestBrowser.make()
      const page = yield* browser.get("/invite/NEWCMER2")
      assert.strictEqual(page.status, 200)
      const fields = { username: "newcomer", email: "newcomer@mail.example", password }
      const refused = yield* browser.submit(page, { ...fields, username: "new comer" })
      assert.deepStrictEqual([refused.status, /Service agreement must be accepted/.test(refused.text)], [422, true])
      assert.include(refused.text, "value=\"newcomer@mail.example\"")
      const done = yield* browser.submit(refused, { ...fields, agreement: "1" })
      assert.strictEqual(done.status, 200)
      assert.include(done.text, "We sent you an email")
      assert.include((yield* Postbox.next).text, "/auth/confirmation")
      assert.deepStrictEqual(
        yield* sql`SELECT a.username, u.approved, i.uses FROM users u JOIN accounts a ON a.id = u.account_id
          JOIN invites i ON i.id = u.invite_id`,
        [{ username: "newcomer", approved: true, uses: 1 }]
      )
      const late = yield* browser.submit(page, {
        ...fields,
        username: "late",
        email: "late@mail.example",
        agreement: "1"
      })
      assert.deepStrictEqual([late.status, /This invite is not valid/.test(late.text)], [401, true])
      const asked = { headers: { accept: "application/json" } }
      assert.deepStrictEqual((yield* send("/invite/NEWCMER2", asked)).status, 401)
      assert.deepStrictEqual(
        [(yield* get("/invite/UNKNOWN2")).status, (yield* send("/invite/UNKNOWN2", asked)).status],
        [
          404,
          404
        ]
      )
      yield* invite("JSONCODE", { by: "inviter2" })
      assert.deepStrictEqual(JSON.parse((yield* send("/invite/JSONCODE", asked)).text), {
        invite_code: "JSONCODE",
        instance_api_url: "https://local.example/api/v2/instance"
      })
    }))
})

layer(server({ registrations: "approval", signupConfirmation: "none" }), { excludeTestServices: true })(
  "the page of an invite on a server with approval",
  (it) => {
    it.effect("S-017: a user who needs approval reads so, and nothing about an e-mail that was not sent", () =>
      Effect.gen(function*() {
        yield* invite("WAITING2", { by: "inviter3" })
        const browser = TestBrowser.make()
        const page = yield* browser.get("/invite/WAITING2")
        const fields = { username: "patient", email: "patient@mail.example", password, agreement: "1" }
        const done = yield* browser.submit(page, fields)
        assert.strictEqual(done.status, 200)
        assert.match(done.text, /A moderator of \S+ will now review your sign-up/)
        assert.notInclude(done.text, "We sent you an email")
        const odd = { ...page, text: page.text.replace("/invite/WAITING2", "/invite/WAITING2%00") }
        const other = { ...fields, username: "other", email: "other@mail.example" }
        assert.strictEqual((yield* browser.submit(odd, other)).status, 401)
      }))
  }
)
