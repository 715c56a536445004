import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { OwnerLinks } from "../../../../src/services/identity/OwnerLinks.ts"
import { OpaqueSecrets } from "../../../../src/services/secrets/OpaqueSecrets.ts"
import { send } from "../../../support/Requests.ts"
import { password, user } from "../../../support/SignedIn.ts"
import * as TestBrowser from "../../../support/TestBrowser.ts"
import { server } from "../../../support/WebServer.ts"

const links = Effect.provide(OwnerLinks, OwnerLinks.layer.pipe(Layer.provide(OpaqueSecrets.layer)))
const issue = Effect.gen(function*() {
  const secret = yield* (yield* links).issue
  return secret === undefined ? undefined : `/auth/owner?setup_token=${Redacted.value(secret)}`
})
const fields = (username: string) => ({
  username,
  email: `${username}@mail.example`,
  password,
  title: "The Harbour",
  language: "de"
})
const owners = SqlClient.SqlClient.use((sql) =>
  sql<
    { username: string; locale: string }
  >`SELECT a.username, u.locale FROM users u JOIN accounts a ON a.id = u.account_id
    JOIN roles r ON r.id = u.role_id WHERE r.name = 'Owner' ORDER BY a.id`
)

layer(server(), { excludeTestServices: true })("row 85: the owner's link", (it) => {
  it.effect("opens a page only with its secret, refuses mistakes, and works once, also with concurrent attempts", () =>
    Effect.gen(function*() {
      yield* user("member")
      const browser = TestBrowser.make()
      assert.strictEqual((yield* browser.get("/auth/owner")).status, 404)
      assert.strictEqual((yield* browser.get("/auth/owner?setup_token=guess")).status, 404)
      const path = yield* issue
      const second = yield* issue
      assert.isDefined(path)
      const page = yield* browser.get(path ?? "")
      assert.strictEqual(page.status, 200)
      assert.include(page.headers.get("cache-control") ?? "", "no-store")
      assert.strictEqual(page.headers.get("referrer-policy"), "same-origin")
      const short = yield* browser.submit(page, { ...fields("anna"), password: "short" })
      assert.deepStrictEqual([short.status, /is too short/.test(short.text)], [422, true])
      const unnamed = yield* browser.submit(page, { ...fields("anna"), title: " " })
      assert.strictEqual(unnamed.status, 422)
      const taken = yield* browser.submit(page, fields("member"))
      assert.deepStrictEqual([taken.status, (yield* owners).length], [422, 0])

      // Another site cannot submit it.
      const forged = yield* send("/auth/owner", { method: "POST", body: new URLSearchParams(fields("eve")) })
      assert.strictEqual(forged.status, 403)

      const other = TestBrowser.make()
      const pages = [page, page, yield* other.get(second ?? ""), yield* other.get(path ?? "")]
      const results = yield* Effect.all(
        pages.map((one, index) => (index < 2 ? browser : other).submit(one, fields(`owner${index}`))),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(results.map(({ status }) => status).toSorted(), [302, 404, 404, 404])
      const [owner, ...more] = yield* owners
      assert.deepStrictEqual([owner?.locale, more.length], ["de", 0])

      const winner = results.findIndex(({ status }) => status === 302)
      assert.strictEqual(TestBrowser.locationOf(results[winner]!).pathname, "/welcome")
      const own = winner < 2 ? browser : other
      const welcome = yield* own.get("/welcome")
      assert.deepStrictEqual([welcome.status, (welcome.text.match(/<li>/g) ?? []).length], [200, 3])
      assert.strictEqual((yield* own.get("/admin/settings")).status, 200)
      assert.include((yield* send("/")).text, "The Harbour")
      // Replays of either link, and a stranger's sign-in.
      const stranger = TestBrowser.make()
      for (const link of [path, second]) {
        assert.strictEqual((yield* stranger.get(link ?? "")).status, 404)
        assert.strictEqual(
          (yield* other.submit(pages[2]!, { ...fields("late"), setup_token: (link ?? "").slice(24) })).status === 302,
          false
        )
      }
      assert.strictEqual((yield* stranger.get("/welcome")).status, 302)
      assert.isUndefined(yield* issue, "no link is printed while there is an owner")
      assert.strictEqual((yield* owners).length, 1)
    }))
})

layer(server(), { excludeTestServices: true })("row 85: an unused owner's link", (it) => {
  it.effect("ends after an hour, and does not adopt an attacker's session", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const path = (yield* issue) ?? ""
      const browser = TestBrowser.make()
      const page = yield* browser.get(path)
      yield* sql`UPDATE owner_links SET expires_at = now() - interval '1 second'`
      assert.strictEqual((yield* browser.submit(page, fields("anna"))).status, 404)
      assert.strictEqual((yield* browser.get(path)).status, 404)
      assert.strictEqual((yield* owners).length, 0)

      const next = yield* browser.get((yield* issue) ?? "")
      assert.deepStrictEqual((yield* sql`SELECT FROM owner_links`).length, 1, "old links are removed")
      browser.cookies.set("__Host-session", "fixed")
      const fresh = TestBrowser.make()
      fresh.cookies.set("__Host-session", "fixed-by-somebody-else")
      const form = yield* fresh.get((yield* issue) ?? "")
      assert.strictEqual((yield* fresh.submit(form, fields("anna"))).status, 302)
      assert.notStrictEqual(fresh.cookies.get("__Host-session"), "fixed-by-somebody-else")
      assert.strictEqual((yield* browser.submit(next, fields("berta"))).status !== 302, true)
    }))
})
