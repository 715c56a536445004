import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import { lockAccount } from "../../../../src/services/visibility/Pairs.ts"
import * as Authenticator from "../../../support/Authenticator.ts"
import { eventually } from "../../../support/Eventually.ts"
import { password, user } from "../../../support/SignedIn.ts"
import * as SoftwarePasskey from "../../../support/SoftwarePasskey.ts"
import * as TestBrowser from "../../../support/TestBrowser.ts"
import { Postbox, server } from "../../../support/WebServer.ts"

const place = { origin: "https://local.example", rpId: "local.example" }

type Browser = ReturnType<typeof TestBrowser.make>
const submitTo = (browser: Browser, page: TestBrowser.Page, action: string, fields: Record<string, string>) =>
  browser.submit(page, fields, TestBrowser.formsOf(page).findIndex((form) => form.action === action))

/** Adds a passkey to a signed-in user. */
const added = Effect.fnUntraced(function*(browser: Browser) {
  const key = SoftwarePasskey.make(place)
  const start = yield* browser.get("/settings/passkeys")
  const step = yield* submitTo(browser, start, "/settings/passkeys/new", { name: "My phone", password })
  const { challenge, user: owner } = SoftwarePasskey.optionsOn(step)
  const credential = key.register({ challenge })
  const stored = yield* submitTo(browser, step, "/settings/passkeys", { credential })
  return { credential, key, step, stored, userHandle: owner?.id ?? "" }
})

layer(server(), { excludeTestServices: true })("row 86: passkeys", (it) => {
  it.effect("sign in alone, without a name or a code, once per challenge", () =>
    Effect.gen(function*() {
      yield* user("ada")
      const browser = TestBrowser.make()
      yield* browser.signIn("ada")
      const start = yield* browser.get("/settings/passkeys")
      const wrong = yield* submitTo(browser, start, "/settings/passkeys/new", { name: "x", password: "wrong" })
      assert.deepStrictEqual([wrong.status, /Wrong password/.test(wrong.text)], [403, true])
      const { credential, key, step, stored, userHandle } = yield* added(browser)
      assert.strictEqual(stored.status, 302)
      assert.include((yield* Postbox.next).subject, "A passkey was added")
      const list = yield* browser.get("/settings/passkeys")
      assert.include(list.text, "My phone")
      assert.include(list.text, "never used")
      const replay = yield* submitTo(browser, step, "/settings/passkeys", { credential })
      assert.strictEqual(replay.status, 422, "a registration is accepted once")

      const fresh = TestBrowser.make()
      const signInBy = Effect.fnUntraced(
        function*(change: Partial<Parameters<typeof key.credential>[0]>, challenge?: string) {
          const page = yield* fresh.get("/auth/sign_in?return_to=/settings/passkeys")
          const given = key.credential({
            challenge: SoftwarePasskey.optionsOn(page).challenge,
            ...change,
            ...(challenge && { challenge })
          })
          return { given, page, result: yield* submitTo(fresh, page, "/auth/passkey", { credential: given }) }
        }
      )
      const refusals = [
        { origin: "https://evil.example" },
        { origin: "https://sub.local.example" },
        { origin: "http://local.example" },
        { rpId: "evil.example" },
        { verified: false },
        { type: "webauthn.create" },
        { challenge: "AAAA" },
        { challenge: SoftwarePasskey.optionsOn(step).challenge },
        { userHandle: "somebody-else" }
      ]
      for (const change of refusals) {
        const { result } = yield* signInBy(change)
        assert.strictEqual(result.status, 422, JSON.stringify(change))
        assert.isUndefined(fresh.cookies.get("__Host-session"))
      }
      const { given, page, result } = yield* signInBy({ userHandle })
      assert.deepStrictEqual(
        [result.status, TestBrowser.locationOf(result).pathname],
        [302, "/settings/passkeys"]
      )
      const session = fresh.cookies.get("__Host-session")
      assert.isString(session)
      const other = TestBrowser.make()
      const again = yield* other.get("/auth/sign_in")
      assert.strictEqual(
        (yield* submitTo(other, again, "/auth/passkey", { credential: given })).status,
        422,
        "a replay"
      )
      assert.strictEqual((yield* submitTo(fresh, page, "/auth/passkey", { credential: given })).status, 403)
      // A counter that does not rise indicates a copied key.
      fresh.cookies.delete("__Host-session")
      assert.strictEqual((yield* signInBy({ counter: 1 })).result.status, 422)
      for (const junk of ["", "{}", "null", "{\"id\":1}", "x".repeat(30_000)]) {
        const form = yield* other.get("/auth/sign_in")
        assert.strictEqual((yield* submitTo(other, form, "/auth/passkey", { credential: junk })).status, 422)
      }

      const shown = yield* browser.get("/settings/passkeys")
      assert.include(shown.text, "last used on")
      assert.strictEqual(
        (yield* submitTo(browser, shown, "/settings/passkeys/remove", { password: "wrong" })).status,
        403
      )
      assert.strictEqual((yield* submitTo(browser, shown, "/settings/passkeys/remove", { password })).status, 302)
      assert.strictEqual((yield* signInBy({})).result.status, 422)
    }))

  it.effect("are a second factor of their own user, after the password", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      yield* user("bea")
      yield* user("cleo")
      const [bea, cleo] = [TestBrowser.make(), TestBrowser.make()]
      yield* bea.signIn("bea")
      yield* cleo.signIn("cleo")
      const own = yield* added(bea)
      const foreign = yield* added(cleo)
      yield* Authenticator.setUp(bea)

      const fresh = TestBrowser.make()
      yield* fresh.signIn("bea")
      assert.isUndefined(fresh.cookies.get("__Host-session"))
      const step = yield* fresh.get("/auth/two_factor?return_to=/invites")
      const { challenge } = SoftwarePasskey.optionsOn(step)
      const tried = yield* submitTo(fresh, step, "/auth/passkey", { credential: foreign.key.credential({ challenge }) })
      assert.strictEqual(tried.status, 422, "another user's passkey")
      // User verification is not needed: the password was the first factor.
      const done = yield* submitTo(fresh, step, "/auth/passkey", {
        credential: own.key.credential({ challenge, verified: false })
      })
      assert.deepStrictEqual([done.status, TestBrowser.locationOf(done).pathname], [302, "/invites"])
      assert.strictEqual((yield* fresh.get("/invites")).status, 200)
      assert.deepStrictEqual(yield* sql`SELECT FROM pending_sign_ins`, [])
    }))

  it.effect("F333: a passkey that is added while another takes the last place is refused", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const accountId = yield* user("dina")
      const fill = (from: number, to: number) =>
        sql`INSERT INTO passkeys (credential_id, account_id, public_key, counter, transports, name, created_at)
          SELECT decode(lpad(n::text, 32, '0'), 'hex'), ${accountId}, decode('00', 'hex'), 0, '{}', 'Old', now()
          FROM generate_series(${sql.literal(`${from}, ${to}`)}) n`
      yield* fill(1, 19)
      const browser = TestBrowser.make()
      yield* browser.signIn("dina")
      const start = yield* browser.get("/settings/passkeys")
      const step = yield* submitTo(browser, start, "/settings/passkeys/new", { name: "My phone", password })
      const { challenge } = SoftwarePasskey.optionsOn(step)
      const credential = SoftwarePasskey.make(place).register({ challenge })
      const begun = yield* Deferred.make<void>()
      // Forked here, so that the request does not run in the transaction.
      const running = yield* Effect.forkDetach(
        Effect.andThen(Deferred.await(begun), submitTo(browser, step, "/settings/passkeys", { credential }))
      )
      yield* sql.withTransaction(Effect.gen(function*() {
        yield* lockAccount(sql, accountId)
        yield* fill(20, 20)
        yield* Deferred.succeed(begun, undefined)
        yield* eventually(
          sql<{ waiting: number }>`SELECT count(DISTINCT pid)::int AS waiting FROM pg_locks WHERE NOT granted`,
          ([row]) => row!.waiting > 0 || running.pollUnsafe() !== undefined
        )
      }))
      const { status, text } = yield* Fiber.join(running)
      assert.strictEqual(status, 422)
      assert.include(text, "too many passkeys")
      const [row] = yield* sql`SELECT count(*)::int AS count FROM passkeys WHERE account_id = ${accountId}`
      assert.deepStrictEqual(row, { count: 20 })
      // Those above the bound, which older versions let in, are shown, so that they can be removed.
      yield* fill(21, 23)
      assert.strictEqual((yield* browser.get("/settings/passkeys")).text.split("Added on").length - 1, 23)
    }))
})
