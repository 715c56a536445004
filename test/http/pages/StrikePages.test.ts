import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { linkTokens } from "../../../src/services/instance/LinkTokens.ts"
import { ask, newPerson } from "../../support/Api.ts"
import { TestServer } from "../../support/Server.ts"
import { staffMember } from "../../support/Staff.ts"
import { staffBrowser } from "../../support/StaffBrowser.ts"
import { locationOf } from "../../support/TestBrowser.ts"

/** Returns the link to a strike as in the e-mail. */
const linkOf = Effect.fnUntraced(function*(id: bigint) {
  const sql = yield* SqlClient.SqlClient
  const [key] = yield* sql<{ value: string }>`SELECT value FROM secrets WHERE name = 'signing_key'`
  const token = linkTokens(key!.value, "links to strikes").make("strike", id)
  return `/disputes/strikes/${id}?${new URLSearchParams({ token })}`
})

layer(TestServer.layer(), { excludeTestServices: true })(
  "decisions about the user's own account",
  (it) => {
    it.effect("S-234: the user reads and appeals strikes once; others cannot see them", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const moderator = yield* staffMember("judge", ["manageUsers"])
        const [bad, other] = [yield* newPerson("bad"), yield* newPerson("other")]
        yield* ask(moderator, "POST", `/api/v1/admin/accounts/${bad.accountId}/action`, {
          type: "silence",
          text: "Stop <b>it</b>"
        })
        const [strike] = yield* sql<{ id: bigint }>`SELECT id FROM account_warnings`
        const path = `/disputes/strikes/${strike!.id}`
        const stranger = yield* staffBrowser()
        assert.strictEqual(locationOf(yield* stranger.get(path)).pathname, "/auth/sign_in")
        assert.strictEqual((yield* stranger.get(`${path}?token=${strike!.id}.${"x".repeat(43)}`)).status, 404)
        assert.strictEqual((yield* (yield* staffBrowser(other)).get(path)).status, 404)
        const browser = yield* staffBrowser(bad)
        const list = yield* browser.get("/disputes/strikes")
        assert.include(list.text, `href="${path}"`)
        const page = yield* browser.get(path)
        assert.strictEqual(page.status, 200)
        assert.include(page.text, "Stop &lt;b&gt;it&lt;/b&gt;")
        for (const text of ["", "x".repeat(2_001)]) {
          const refused = yield* browser.submit(page, { text })
          assert.strictEqual(refused.status, 422)
          assert.include(refused.text, "role=\"alert\"")
        }
        const sent = yield* browser.submit(page, { text: "I did not" })
        assert.strictEqual(sent.status, 302)
        const after = yield* browser.follow(sent)
        assert.include(after.text, "is pending")
        assert.include(after.text, "I did not")
        assert.strictEqual((yield* browser.submit(page, { text: "Again" })).status, 422)
        assert.strictEqual((yield* sql`SELECT FROM appeals`).length, 1)
        assert.include((yield* browser.get(`${path}?lang=de`)).text, "Eine Entscheidung über dein Konto")
      }))

    it.effect("S-234: a suspended user reads and appeals by the link of the e-mail, for 20 days", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const moderator = yield* staffMember("judge2", ["manageUsers"])
        const bad = yield* newPerson("bad2")
        yield* ask(moderator, "POST", `/api/v1/admin/accounts/${bad.accountId}/action`, {
          type: "suspend",
          text: "Out"
        })
        const [strike] = yield* sql<{ id: bigint }>`SELECT id FROM account_warnings
        WHERE target_account_id = ${bad.accountId}`
        const link = yield* linkOf(strike!.id)
        const browser = yield* staffBrowser()
        const page = yield* browser.get(link)
        assert.strictEqual(page.status, 200)
        // The link is for this strike only.
        const others = link.replace(/strikes\/\d+/, "strikes/1")
        assert.strictEqual((yield* browser.get(others)).status, 404)
        yield* sql`UPDATE account_warnings SET created_at = created_at - interval '21 days' WHERE id = ${strike!.id}`
        assert.include((yield* browser.get(link)).text, "deadline for an appeal has passed")
        assert.strictEqual((yield* browser.submit(page, { text: "Late" })).status, 422)
        yield* sql`UPDATE account_warnings SET created_at = created_at + interval '2 days' WHERE id = ${strike!.id}`
        const sent = yield* browser.submit(page, { text: "Please" })
        assert.strictEqual(sent.status, 302)
        assert.include((yield* browser.follow(sent)).text, "Please")
      }))

    it.effect("S-234: a frozen or suspended user who signs in is led only to them, also without an e-mail", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const moderator = yield* staffMember("judge3", ["manageUsers"])
        for (const type of ["disable", "suspend"]) {
          const bad = yield* newPerson(`${type}3`)
          yield* ask(moderator, "POST", `/api/v1/admin/accounts/${bad.accountId}/action`, {
            type,
            text: "Out",
            send_email_notification: false
          })
          const browser = yield* staffBrowser()
          const known = yield* browser.signIn(bad.username, undefined, bad.password)
          assert.strictEqual(known.status, 302)
          assert.strictEqual(locationOf(known).pathname, "/disputes/strikes")
          const list = yield* browser.follow(known)
          const [, href = ""] = /href="(\/disputes\/strikes\/[^"]*)"/.exec(list.text) ?? []
          const page = yield* browser.get(href.replaceAll("&amp;", "&"))
          assert.include(page.text, "Out")
          const sent = yield* browser.submit(page, { text: `I was not ${type}` })
          assert.strictEqual(sent.status, 302)
          assert.include((yield* browser.follow(sent)).text, `I was not ${type}`)
          // No session remains.
          for (const path of ["/oauth/authorized_applications", "/settings/two_factor_authentication", "/admin"]) {
            assert.strictEqual(locationOf(yield* browser.get(path)).pathname, "/auth/sign_in", path)
          }
          assert.deepStrictEqual(yield* sql`SELECT FROM sessions WHERE account_id = ${bad.accountId}`, [])
          assert.strictEqual((yield* ask(bad, "GET", "/api/v1/strikes")).status, 403)
          // A wrong password discloses nothing, and the link expires.
          assert.strictEqual((yield* (yield* staffBrowser()).signIn(bad.username, undefined, "wrong")).status, 422)
          const [key] = yield* sql<{ value: string }>`SELECT value FROM secrets WHERE name = 'signing_key'`
          const tokens = linkTokens<string>(key!.value, "links to all strikes of an account")
          const hour = Math.floor(Date.now() / 3_600_000)
          const reads = Effect.fnUntraced(function*(at: number) {
            const token = tokens.make(`hour ${at}`, bad.accountId)
            return (yield* (yield* staffBrowser()).get(`/disputes/strikes?${new URLSearchParams({ token })}`)).status
          })
          assert.deepStrictEqual([yield* reads(hour), yield* reads(hour - 3), yield* reads(hour + 2)], [200, 302, 302])
        }
      }))
  }
)
