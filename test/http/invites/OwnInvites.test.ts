import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { permissions } from "../../../src/services/staff/Permissions.ts"
import { client, user } from "../../support/SignedIn.ts"
import * as TestBrowser from "../../support/TestBrowser.ts"
import { server } from "../../support/WebServer.ts"

const signedIn = Effect.fnUntraced(function*(name: string) {
  const id = yield* user(name)
  const browser = TestBrowser.make()
  yield* browser.signIn(name)
  return { browser, id }
})
const invitesOf = (id: bigint) =>
  SqlClient.SqlClient.use((sql) =>
    sql<{ code: string; maxUses: number | null; autofollow: boolean }>`SELECT code, max_uses, autofollow
      FROM invites WHERE account_id = ${id} AND expires_at IS NULL ORDER BY id`
  )

layer(server(), { excludeTestServices: true })("S-017: people's own invites", (it) => {
  it.effect("are created, shown and ended by their creator, if the role allows it", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      yield* client("read", "myapp://back")
      const [anna, ben] = [yield* signedIn("anna"), yield* signedIn("ben")]
      const page = yield* anna.browser.get("/invites")
      assert.strictEqual(page.status, 200)
      const created = yield* anna.browser.submit(page, { max_uses: "5", autofollow: "1" })
      assert.deepStrictEqual([created.status, created.text.slice(0, 900)], [302, ""])
      yield* anna.browser.submit(page, { max_uses: "7", expires_in: "x" })
      const [first, second] = yield* invitesOf(anna.id)
      assert.deepStrictEqual([first?.maxUses, first?.autofollow], [5, true])
      // Values that the form does not offer are ignored: the invite is unlimited, the first choice.
      assert.deepStrictEqual([second?.maxUses, second?.autofollow], [null, false])
      const listed = yield* anna.browser.get("/invites")
      assert.include(listed.text, `/invite/${first?.code}`)
      assert.notInclude((yield* ben.browser.get("/invites")).text, `/invite/${first?.code}`)
      const form = TestBrowser.formsOf(listed)[1]
      const token = TestBrowser.formsOf(yield* ben.browser.get("/invites"))[0]?.fields ?? {}
      yield* ben.browser.request(form?.action ?? "", {
        method: "POST",
        body: new URLSearchParams(token),
        headers: { origin: "https://local.example" }
      })
      assert.strictEqual((yield* invitesOf(anna.id)).length, 2, "somebody else's")
      yield* anna.browser.submit(listed, {}, 1)
      assert.strictEqual((yield* invitesOf(anna.id)).length, 1)
      // The audit log is only for staff.
      assert.deepStrictEqual(yield* sql`SELECT FROM audit_log WHERE target_type = 'invite'`, [])
      yield* sql`UPDATE roles SET permissions = permissions & ~${permissions.inviteUsers}::bigint WHERE id = -99`
      assert.strictEqual((yield* anna.browser.submit(page, {})).status, 403)
      assert.strictEqual((yield* TestBrowser.make().get("/invites")).status, 302)
    }))
})
