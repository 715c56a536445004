import { assert, layer } from "@effect/vitest"
import { Effect, Redacted, Result, Schema } from "effect"
import { SqlClient } from "effect/sql"

import { Token } from "../../../src/http/wire/Token.ts"
import { AccountId } from "../../../src/services/database/Ids.ts"
import { givenEmail } from "../../../src/services/identity/RegistrationRules.ts"
import { Registrations } from "../../../src/services/identity/Registrations.ts"
import { Tokens } from "../../../src/services/oauth/Tokens.ts"
import { get, post, send } from "../../support/Requests.ts"
import { client, user } from "../../support/SignedIn.ts"
import { locationOf } from "../../support/TestBrowser.ts"
import { Postbox, server } from "../../support/WebServer.ts"
import { clientToken, details, signUp, wish } from "./SignUpForm.ts"

layer(server(), { excludeTestServices: true })("sign-ups", (it) => {
  it.effect("F96, D-014: an unknown time zone is refused", () =>
    Effect.gen(function*() {
      const response = yield* signUp(yield* clientToken(), {
        ...wish("zoned"),
        reason: "Because.",
        time_zone: "Mars/Olympus_Mons"
      })
      assert.deepStrictEqual(details(response), { time_zone: ["ERR_INCLUSION"] })
      assert.strictEqual(response.body.error, "Validation failed: Time zone is not included in the list")
      const good = yield* signUp(yield* clientToken(), {
        ...wish("zoned"),
        reason: "Because.",
        time_zone: "America/Sao_Paulo"
      })
      assert.strictEqual(good.status, 200)
      yield* Postbox.next
    }))

  it.effect("S-100 S-130 S-133 S-176 S-247 a user signs up in an app, confirms by the link in an e-mail, and returns to the app", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const moderator = yield* user("moira")
      yield* sql`UPDATE users SET role_id = 1 WHERE account_id = ${moderator}`
      const told = sql<{ type: string; username: string }>`SELECT n.type, a.username FROM notifications n
        JOIN accounts a ON a.id = n.from_account_id WHERE n.account_id = ${moderator}`
      const response = yield* signUp(yield* clientToken(), { ...wish("alma"), reason: "Because." })
      assert.strictEqual(response.status, 200)
      Schema.decodeUnknownSync(Token)(response.body, { onExcessProperty: "error" })
      assert.strictEqual(response.body.scope, "read write")
      const token = response.body.access_token
      const check = get("/api/v1/emails/check_confirmation", token)
      assert.deepStrictEqual((yield* check).body, false)
      assert.strictEqual((yield* get("/api/v1/apps/verify_credentials", token)).status, 200)
      assert.strictEqual((yield* get("/oauth/token/info", token)).status, 200)
      const locked = yield* get("/oauth/userinfo", token)
      assert.deepStrictEqual([locked.status, locked.body], [
        403,
        { error: "Your login is missing a confirmed e-mail address" }
      ])

      const first = yield* Postbox.next
      assert.strictEqual(first.to, "alma@mail.example")
      const again = yield* post("/api/v1/emails/confirmations", {}, { authorization: `Bearer ${token}` })
      assert.deepStrictEqual([again.status, again.body], [200, {}])
      const second = yield* Postbox.next
      const linkIn = (text: string) => new URL(/https:\S+/.exec(text)?.[0] ?? "")
      const open = (link: URL) => get(link.pathname + link.search)
      assert.strictEqual((yield* open(linkIn(first.text))).status, 404, "only the last letter's link works")
      const link = linkIn(second.text)
      assert.strictEqual(link.origin + link.pathname, "https://local.example/auth/confirmation")
      assert.strictEqual(link.searchParams.get("redirect_to_app"), "true")
      assert.deepStrictEqual(yield* told, [])
      for (const _ of ["once", "again, as programs that look into mails do"]) {
        assert.strictEqual(locationOf(yield* open(link)).href, "myapp://back")
      }
      // Moderators are notified of admitted users, once.
      assert.deepStrictEqual(yield* told, [{ type: "admin.sign_up", username: "alma" }])
      assert.deepStrictEqual((yield* check).body, true)
      const late = yield* post("/api/v1/emails/confirmations", {}, { authorization: `Bearer ${token}` })
      assert.deepStrictEqual([late.status, late.body], [
        403,
        { error: "This method is only available while the e-mail is awaiting confirmation" }
      ])
      const open2 = yield* get("/oauth/userinfo", token)
      assert.deepStrictEqual(open2.body, { error: "This action is outside the authorized scopes" }, "confirmed")
    }))

  it.effect("S-133 the address may be corrected before it is confirmed, only by the app that signed the user up", () =>
    Effect.gen(function*() {
      const [tokens, sql] = [yield* Tokens, yield* SqlClient.SqlClient]
      const { body } = yield* signUp(yield* clientToken(), { ...wish("anja"), email: "typo@mail.example" })
      yield* Postbox.next
      const resend = (parameters: Record<string, string>, token: string = body.access_token) =>
        post("/api/v1/emails/confirmations", parameters, { authorization: `Bearer ${token}` })
      assert.deepStrictEqual(details(yield* resend({ email: "nonsense" })), { email: ["ERR_INVALID"] })
      yield* user("beate")
      assert.deepStrictEqual(details(yield* resend({ email: "Beate@mail.example" })), { email: ["ERR_TAKEN"] })
      assert.strictEqual((yield* resend({ email: "anja@mail.example" })).status, 200)
      assert.strictEqual((yield* Postbox.next).to, "anja@mail.example")
      const [row] = yield* sql<{ accountId: bigint }>`
        SELECT account_id FROM oauth_tokens ORDER BY id DESC LIMIT 1`
      const other = yield* client("write")
      const foreign = yield* tokens.issue({ appId: other.id, accountId: AccountId.make(row!.accountId) }, ["write"])
      const response = yield* resend({}, Redacted.value(foreign.secret))
      assert.deepStrictEqual([response.status, response.body], [
        403,
        { error: "This method is only available to the application the user originally signed-up with" }
      ])
    }))

  it.effect("S-130 requires the app's own token with write:accounts", () =>
    Effect.gen(function*() {
      const tokens = yield* Tokens
      const app = yield* client("read write")
      const own = yield* tokens.issue({ appId: app.id, accountId: yield* user("arno") }, ["write"])
      const response = yield* signUp(Redacted.value(own.secret), wish("bodo"))
      assert.deepStrictEqual([response.status, response.body], [
        403,
        { error: "This method requires an client credentials authentication" }
      ])
      assert.strictEqual((yield* signUp(yield* clientToken("read"), wish("bodo"))).status, 403)
      assert.strictEqual((yield* post("/api/v1/accounts", wish("bodo"))).status, 401)
      assert.strictEqual((yield* signUp(yield* clientToken("write:accounts"), wish("bodo"))).status, 200)
    }))

  it.effect("S-131 S-271 reports every problem by field and code", () =>
    Effect.gen(function*() {
      const token = yield* clientToken()
      yield* user("carla")
      const problems = (more: Record<string, string>) =>
        Effect.map(signUp(token, { ...wish("dora"), ...more }), details)
      for (const agreement of ["", "false", "0", "off"]) {
        const response = yield* signUp(token, { ...wish("dora"), agreement })
        assert.deepStrictEqual(response.body, {
          error: "Validation failed: Service agreement must be accepted",
          details: { agreement: [{ error: "ERR_ACCEPTED", description: "must be accepted" }] }
        })
      }
      assert.deepStrictEqual(details(yield* signUp(token, {})), {
        username: ["ERR_BLANK"],
        email: ["ERR_BLANK"],
        password: ["ERR_BLANK"],
        agreement: ["ERR_ACCEPTED"]
      })
      assert.deepStrictEqual(yield* problems({ username: "CARLA" }), { username: ["ERR_TAKEN"] })
      assert.deepStrictEqual(yield* problems({ username: "d.ora" }), { username: ["ERR_INVALID"] })
      assert.deepStrictEqual(yield* problems({ username: "d".repeat(31) }), { username: ["ERR_TOO_LONG"] })
      assert.deepStrictEqual(yield* problems({ username: "Adm1n" }), { username: ["ERR_RESERVED"] })
      assert.deepStrictEqual(yield* problems({ email: "carla@MAIL.example" }), { email: ["ERR_TAKEN"] })
      assert.deepStrictEqual(yield* problems({ email: "x" }), { email: ["ERR_INVALID"] })
      assert.deepStrictEqual(yield* problems({ email: `${"x".repeat(320)}@a.example` }), { email: ["ERR_TOO_LONG"] })
      assert.deepStrictEqual(yield* problems({ password: "seven77" }), { password: ["ERR_TOO_SHORT"] })
      assert.deepStrictEqual(yield* problems({ password: "ü".repeat(37) }), { password: ["ERR_TOO_LONG"] })
      assert.deepStrictEqual(yield* problems({ reason: "x".repeat(421) }), { reason: ["ERR_TOO_LONG"] })
      const sql = yield* SqlClient.SqlClient
      yield* sql`INSERT INTO retired_usernames VALUES ('erna', ${new Date(0)})`
      assert.deepStrictEqual(yield* problems({ username: "Erna" }), { username: ["ERR_TAKEN"] })
    }))

  it.effect("ten concurrent sign-ups with one name create one account", () =>
    Effect.gen(function*() {
      const token = yield* clientToken()
      const responses = yield* Effect.all(
        Array.from({ length: 10 }, (_, i) => signUp(token, { ...wish("ferdi"), email: `ferdi${i}@mail.example` })),
        { concurrency: 10 }
      )
      assert.strictEqual(responses.filter(({ status }) => status === 200).length, 1)
      for (const response of responses) {
        if (response.status !== 200) assert.deepStrictEqual(details(response), { username: ["ERR_TAKEN"] })
      }
    }))

  it.effect("F35: locales are accepted in the systems' spellings, unknown ones are ignored; mail hosts need no dot", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const token = yield* clientToken()
      const locales = {
        "en_US": "en-US",
        "de_DE.UTF-8": "de-DE",
        "pt-br": "pt-BR",
        "C": null,
        "<script>": null,
        "xq": null
      }
      for (const [index, [locale, expected]] of Object.entries(locales).entries()) {
        const username = `local${index}`
        const response = yield* signUp(token, { ...wish(username), email: `${username}@mailhost`, locale })
        assert.strictEqual(response.status, 200, JSON.stringify(response.body))
        const rows = yield* sql`SELECT u.locale, u.email FROM users u JOIN accounts a ON a.id = u.account_id
          WHERE a.username = ${username}`
        assert.deepStrictEqual(rows, [{ locale: expected, email: `${username}@mailhost` }])
      }
    }))

  it.effect("parameters may be JSON, too", () =>
    Effect.gen(function*() {
      const response = yield* send("/api/v1/accounts", {
        method: "POST",
        body: JSON.stringify({ ...wish("gerd"), agreement: true, time_zone: "Europe/Berlin" }),
        headers: { authorization: `Bearer ${yield* clientToken()}`, "content-type": "application/json" }
      })
      assert.strictEqual(response.status, 200)
      const sql = yield* SqlClient.SqlClient
      const rows = yield* sql`SELECT u.time_zone, u.locale, u.approved, s.statuses_count, c.epoch FROM users u
        JOIN accounts a ON a.id = u.account_id JOIN account_stats s ON s.account_id = a.id
        JOIN actors c ON c.account_id = a.id WHERE a.username = 'gerd'`
      assert.deepStrictEqual(rows, [
        { timeZone: "Europe/Berlin", locale: "en", approved: true, statusesCount: 0, epoch: 0n }
      ])
    }))

  it.effect("F20, F96: an unknown time zone is refused, however long it is", () =>
    Effect.gen(function*() {
      const [sql, registrations] = [yield* SqlClient.SqlClient, yield* Registrations]
      const zones = [
        "Europe/Berlin",
        "Asia/Calcutta",
        "Mars/Olympus",
        "+01:00",
        "UTC",
        "x".repeat(1_000_000),
        "a\nb",
        ""
      ]
      const storedZones = yield* Effect.forEach(zones, (timeZone, n) =>
        Effect.gen(function*() {
          const registration = yield* Effect.result(registrations.create({
            username: `zone${n}`,
            email: givenEmail(`zone${n}@mail.example`),
            password: Redacted.make("a good password"),
            approved: true,
            confirmed: true,
            timeZone
          }))
          if (Result.isFailure(registration)) return registration.failure.message
          const accountId = registration.success
          const [row] = yield* sql<{ timeZone: string | null }>`
            SELECT time_zone FROM users WHERE account_id = ${accountId}`
          return row?.timeZone
        }))
      const refused = "Validation failed: Time zone is not included in the list"
      assert.deepStrictEqual(storedZones, [
        "Europe/Berlin",
        "Asia/Calcutta",
        refused,
        refused,
        "UTC",
        refused,
        refused,
        null
      ])
    }))
})
