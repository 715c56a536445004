import { assert, layer } from "@effect/vitest"
import { Effect, Option } from "effect"
import { SqlClient } from "effect/sql"
import { PendingSignIns } from "../../../src/services/identity/PendingSignIns.ts"
import { Tokens } from "../../../src/services/oauth/Tokens.ts"
import { nextStep, setUp } from "../../support/Authenticator.ts"
import { password, user } from "../../support/SignedIn.ts"
import * as TestBrowser from "../../support/TestBrowser.ts"
import { Postbox, server } from "../../support/WebServer.ts"

const settings = "/settings/two_factor_authentication"
const second = "/auth/two_factor"
const session = "__Host-session"

/** Opens a signed-in browser, with the second factor on. */
const protectedBy = Effect.fnUntraced(function*(username: string) {
  const accountId = yield* user(username)
  const browser = TestBrowser.make()
  yield* browser.signIn(username)
  const done = yield* setUp(browser)
  assert.include((yield* Postbox.next).subject, "Two-factor sign-in is on")
  yield* nextStep(username)
  return { accountId, browser, ...done }
})

/** Opens another browser that has passed the password step. */
const halfway = Effect.fnUntraced(function*(username: string, to = "") {
  const browser = TestBrowser.make()
  const page = yield* browser.get(`/auth/sign_in${to}`)
  const led = yield* browser.signIn(username, page)
  assert.strictEqual(led.status, 302)
  return { browser, page: yield* browser.get(led.headers.get("location") ?? ""), led }
})

layer(server(), { excludeTestServices: true })("two-factor sign-in", (it) => {
  it.effect("is set up with the password and a code; other sessions end, tokens remain, an e-mail confirms it", () =>
    Effect.gen(function*() {
      const accountId = yield* user("amir")
      const tokens = yield* Tokens
      const { secret } = yield* tokens.issue({ appId: undefined, accountId }, ["read"])
      const [here, elsewhere] = [TestBrowser.make(), TestBrowser.make()]
      assert.include(
        (yield* here.get(settings)).headers.get("location") ?? "",
        "/auth/sign_in?return_to=%2Fsettings%2Ftwo_factor"
      )
      yield* here.signIn("amir")
      yield* elsewhere.signIn("amir")
      const before = here.cookies.get(session)
      const overview = yield* here.get(settings)
      const wrong = yield* here.submit(overview, { password: "a guess at it" })
      assert.deepStrictEqual([wrong.status, wrong.text.includes("Wrong password.")], [422, true])
      const qr = yield* here.submit(overview, { password })
      assert.include(qr.text, "<svg")
      assert.isFalse(qr.headers.get("content-security-policy")?.includes("unsafe") ?? true)
      const refused = yield* here.submit(qr, { code: "000 00a" })
      assert.deepStrictEqual([refused.status, refused.text.includes("This code is wrong")], [422, true])
      assert.strictEqual((yield* elsewhere.get(settings)).status, 200, "nothing is on yet")

      const { codes, page } = yield* setUp(here)
      assert.strictEqual(page.status, 200)
      assert.strictEqual(new Set(codes).size, 10)
      for (const code of codes) assert.match(code, /^(?:[a-z2-9]{4}-){3}[a-z2-9]{4}$/)
      assert.strictEqual((yield* elsewhere.get(settings)).status, 302, "signed out")
      assert.notStrictEqual(here.cookies.get(session), before)
      const on = yield* here.get(settings)
      assert.include(on.text, "10 recovery codes are left.")
      assert.notInclude(on.text, codes[0] ?? "?", "they are shown once")
      assert.isFalse(Option.getOrThrow(yield* tokens.find(secret)).revoked)
      const letter = yield* Postbox.next
      assert.deepStrictEqual(
        [letter.to, letter.subject],
        ["amir@mail.example", "Two-factor sign-in is on (local.example)"]
      )
      const again = yield* here.submit(qr, { code: "123456" })
      assert.strictEqual(again.status, 403, "a form of the session before")
      const sql = yield* SqlClient.SqlClient
      const [row] = yield* sql`SELECT otp_secret FROM users WHERE account_id = ${accountId}`
      assert.notInclude(JSON.stringify(row), "JBSW")
    }))

  it.effect("no session before the code; a code works once, a recovery code once with an e-mail", () =>
    Effect.gen(function*() {
      const { app, codes } = yield* protectedBy("bela")
      const { browser, led, page } = yield* halfway("bela", "?return_to=%2Ftags%2Fx")
      assert.strictEqual(led.headers.get("location"), `${second}?return_to=%2Ftags%2Fx`)
      assert.isFalse(browser.cookies.has(session))
      for (const path of [settings, "/oauth/authorized_applications"]) {
        assert.strictEqual((yield* browser.get(path)).status, 302, path)
      }
      const code = app.code()
      const wrong = yield* browser.submit(page, { otp_attempt: "12345" })
      assert.deepStrictEqual([wrong.status, wrong.text.includes("bela")], [422, false], "it does not say whose it is")
      const done = yield* browser.submit(wrong, { otp_attempt: ` ${code.slice(0, 3)} ${code.slice(3)}` })
      assert.deepStrictEqual([done.status, done.headers.get("location")], [302, "/tags/x"])
      assert.isTrue(browser.cookies.has(session))
      assert.isFalse(browser.cookies.has("__Host-pending"))

      const other = yield* halfway("bela")
      const replay = yield* other.browser.submit(other.page, { otp_attempt: code })
      assert.deepStrictEqual([replay.status, other.browser.cookies.has(session)], [422, false])
      const shouted = (codes[3] ?? "").toUpperCase().replaceAll("-", " ")
      assert.strictEqual((yield* other.browser.submit(replay, { otp_attempt: shouted })).status, 302)
      const letter = yield* Postbox.next
      assert.include(letter.subject, "A recovery code was used")
      assert.include(letter.text, "9 recovery codes are left.")
      const third = yield* halfway("bela")
      assert.strictEqual((yield* third.browser.submit(third.page, { otp_attempt: shouted })).status, 422)
    }))

  it.effect("row 75: five tries, then the password again; each secret belongs to one browser", () =>
    Effect.gen(function*() {
      const { accountId, app } = yield* protectedBy("cato")
      const { browser, page } = yield* halfway("cato")
      const guesses = yield* Effect.forEach(
        ["1", "2", "3", "4"],
        (digit) => browser.submit(page, { otp_attempt: digit.repeat(6) })
      )
      for (const { text } of guesses) assert.include(text, "This code is wrong")
      assert.include((yield* browser.submit(page, { otp_attempt: "555555" })).text, "Please sign in again")
      assert.include((yield* browser.submit(page, { otp_attempt: app.code() })).text, "Please sign in again")
      assert.isFalse(browser.cookies.has(session))
      assert.strictEqual((yield* browser.get(second)).status, 302, "nothing waits any more")

      const mine = yield* halfway("cato")
      const stranger = TestBrowser.make()
      const form = yield* stranger.get("/auth/sign_in")
      const stolen = { ...mine.page, text: form.text.replace("action=\"/auth/sign_in\"", `action="${second}"`) }
      const refused = yield* stranger.submit(stolen, { otp_attempt: app.code() })
      assert.strictEqual(refused.headers.get("location"), "/auth/sign_in?return_to=%2Fhome")
      assert.isFalse(stranger.cookies.has(session))

      const sql = yield* SqlClient.SqlClient
      yield* sql`UPDATE pending_sign_ins SET expires_at = created_at WHERE account_id = ${accountId}`
      assert.include((yield* mine.browser.submit(mine.page, { otp_attempt: app.code() })).text, "Please sign in again")
      yield* Effect.replicateEffect((yield* PendingSignIns).begin(accountId), 15)
      const [held] = yield* sql<
        { count: bigint }
      >`SELECT count(*) FROM pending_sign_ins WHERE account_id = ${accountId}`
      assert.strictEqual(Number(held?.count), 10)
    }).pipe(Effect.provide(PendingSignIns.layer)))

  it.effect("a code used by two browsers at once admits one", () =>
    Effect.gen(function*() {
      const { app } = yield* protectedBy("dora")
      const waiting = yield* Effect.forEach(Array.from({ length: 6 }), () => halfway("dora"))
      const code = app.code()
      const responses = yield* Effect.forEach(
        waiting,
        ({ browser, page }) => browser.submit(page, { otp_attempt: code }),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(responses.map(({ status }) => status).toSorted(), [302, 422, 422, 422, 422, 422])
    }))

  it.effect("a new password by e-mail does not bypass it, and ends pending sign-ins", () =>
    Effect.gen(function*() {
      const { app } = yield* protectedBy("emil")
      const before = yield* halfway("emil")
      const browser = TestBrowser.make()
      yield* browser.submit(yield* browser.get("/auth/password/new"), { email: "emil@mail.example" })
      const link = new URL(/https:\S+/.exec((yield* Postbox.next).text)?.[0] ?? "")
      yield* browser.submit(yield* browser.get(link.pathname + link.search), { password: "another password" })
      yield* Postbox.next
      const late = yield* before.browser.submit(before.page, { otp_attempt: app.code() })
      assert.include(late.text, "Please sign in again")
      const led = yield* browser.submit(yield* browser.get("/auth/sign_in"), {
        email: "emil@mail.example",
        password: "another password"
      })
      assert.include(led.headers.get("location") ?? "", second)
      assert.isFalse(browser.cookies.has(session))
      const page = yield* browser.get(second)
      assert.strictEqual((yield* browser.submit(page, { otp_attempt: app.code() })).status, 302)
    }))

  it.effect("new recovery codes and switching it off require password and code", () =>
    Effect.gen(function*() {
      const { accountId, app, browser, codes } = yield* protectedBy("fina")
      const page = yield* browser.get(settings)
      for (const index of [0, 1]) {
        const refusals = [
          yield* browser.submit(page, { password: "a guess at it", code: codes[0] ?? "" }, index),
          yield* browser.submit(page, { password, code: "000000" }, index),
          yield* browser.submit(page, { password }, index)
        ]
        assert.deepStrictEqual(refusals.map(({ status }) => status), [422, 422, 422])
      }
      const renewed = yield* browser.submit(page, { password, code: codes[0] ?? "" }, 0)
      assert.include(renewed.text, "<br>")
      assert.notInclude(renewed.text, codes[1] ?? "?")
      assert.strictEqual((yield* browser.submit(page, { password, code: codes[1] ?? "" }, 1)).status, 422)
      yield* nextStep("fina")
      assert.strictEqual((yield* browser.submit(page, { password, code: app.code() }, 1)).status, 302)
      assert.include((yield* Postbox.next).subject, "Two-factor sign-in is off")
      const plain = TestBrowser.make()
      assert.strictEqual((yield* plain.signIn("fina")).headers.get("location"), "/home")
      const sql = yield* SqlClient.SqlClient
      assert.deepStrictEqual(yield* sql`SELECT FROM recovery_codes WHERE account_id = ${accountId}`, [])
    }))

  it.effect("a set-up belongs to the user, and expires after half an hour", () =>
    Effect.gen(function*() {
      yield* user("gustav")
      yield* user("hilde")
      const [his, hers] = [TestBrowser.make(), TestBrowser.make()]
      yield* his.signIn("gustav")
      yield* hers.signIn("hilde")
      const qr = yield* his.submit(yield* his.get(settings), { password })
      const setup = TestBrowser.formsOf(qr)[0]?.fields["setup"] ?? ""
      const form = yield* hers.submit(yield* hers.get(settings), { password })
      for (const given of [setup, "", "x", "A".repeat(5_000), `${setup.slice(0, -2)}AA`]) {
        const response = yield* hers.submit(form, { setup: given, code: "123456" })
        assert.deepStrictEqual([response.status, response.text.includes("That took too long")], [422, true], given)
      }
    }))
})
