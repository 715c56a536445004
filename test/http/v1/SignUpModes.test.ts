import { assert, layer } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { Limits } from "../../../src/http/guard/Limits.ts"

import { Tokens } from "../../../src/services/oauth/Tokens.ts"

import { get, post, send } from "../../support/Requests.ts"
import { client, user } from "../../support/SignedIn.ts"
import { Postbox, server } from "../../support/WebServer.ts"
import { clientToken, invite, signUp, wish } from "./SignUpForm.ts"

layer(server({ registrations: "closed", signupConfirmation: "none" }), { excludeTestServices: true })(
  "closed registrations",
  (it) => {
    const forbidden = { error: "Forbidden" }

    it.effect("S-131 S-270 S-018 are 403 without a valid invite", () =>
      Effect.gen(function*() {
        const token = yield* clientToken()
        yield* invite("EXPIRED2", { by: "host1", expiresAt: new Date(1) })
        yield* invite("USEDUP22", { by: "host2", maxUses: 0 })
        const disabled = yield* invite("DISABLED", { by: "host3" })
        yield* (yield* SqlClient.SqlClient)`UPDATE users SET disabled = true WHERE account_id = ${disabled}`
        for (const invite_code of ["", "UNKNOWN2", "EXPIRED2", "USEDUP22", "DISABLED"]) {
          const response = yield* signUp(token, { ...wish("hans"), invite_code })
          assert.deepStrictEqual([response.status, response.body], [403, forbidden], invite_code)
        }
        yield* invite("GOODONE2", { by: "host4" })
        assert.strictEqual((yield* signUp(token, { ...wish("hans"), invite_code: "GOODONE2" })).status, 200)
      }))

    it.effect("row 76: of 50 concurrent sign-ups with a single-use invite one succeeds", () =>
      Effect.gen(function*() {
        const [token, sql] = [yield* clientToken(), yield* SqlClient.SqlClient]
        yield* invite("ONLYONE2", { by: "host5", maxUses: 1 })
        const responses = yield* Effect.all(
          Array.from({ length: 50 }, (_, i) => signUp(token, { ...wish(`guest${i}`), invite_code: "ONLYONE2" })),
          { concurrency: 50 }
        )
        assert.strictEqual(responses.filter(({ status }) => status === 200).length, 1)
        assert.strictEqual(responses.filter(({ status }) => status === 403).length, 49)
        const [row] = yield* sql`SELECT (SELECT count(*)::int FROM accounts WHERE username LIKE 'guest%') AS accounts,
          uses FROM invites WHERE code = 'ONLYONE2'`
        assert.deepStrictEqual(row, { accounts: 1, uses: 1 })
      }))

    it.effect("row 76: a sign-up that fails does not use up the invite", () =>
      Effect.gen(function*() {
        const [token, sql] = [yield* clientToken(), yield* SqlClient.SqlClient]
        yield* invite("KEPTUSE2", { by: "host6", maxUses: 1 })
        assert.strictEqual((yield* signUp(token, { ...wish("host6"), invite_code: "KEPTUSE2" })).status, 422)
        assert.deepStrictEqual(yield* sql`SELECT uses FROM invites WHERE code = 'KEPTUSE2'`, [{ uses: 0 }])
      }))
  }
)

layer(server({ registrations: "approval", signupConfirmation: "none" }), { excludeTestServices: true })(
  "registrations with approval",
  (it) => {
    it.effect("S-017 row 76: a user waits for a moderator, unless the inviter may admit people", () =>
      Effect.gen(function*() {
        const [token, sql] = [yield* clientToken(), yield* SqlClient.SqlClient]
        const waiting = yield* signUp(token, { ...wish("ilse"), reason: "Please" })
        assert.strictEqual(waiting.status, 200)
        const refused = yield* get("/oauth/userinfo", waiting.body.access_token)
        assert.deepStrictEqual(refused.body, { error: "Your login is currently pending approval" })
        yield* invite("PLAIN222", { by: "host7" })
        yield* signUp(token, { ...wish("jana"), invite_code: "PLAIN222" })
        const owner = yield* invite("OWNER222", { by: "host8" })
        yield* sql`UPDATE users SET role_id = 3 WHERE account_id = ${owner}`
        yield* signUp(token, { ...wish("kira"), invite_code: "OWNER222" })
        const approved = yield* sql`SELECT a.username, u.approved FROM users u JOIN accounts a ON a.id = u.account_id
          WHERE a.username IN ('ilse', 'jana', 'kira') ORDER BY a.username`
        assert.deepStrictEqual(approved, [
          { username: "ilse", approved: false },
          { username: "jana", approved: false },
          { username: "kira", approved: true }
        ])
      }))
  }
)

layer(server({}, { limits: Limits.layerMemory }), { excludeTestServices: true })("sign-ups, limited", (it) => {
  it.effect("S-131 S-291 row 75: 5 sign-ups in 30 minutes from an address", () =>
    Effect.gen(function*() {
      const token = yield* clientToken()
      const responses = yield* Effect.forEach(Array.from({ length: 6 }), (_, i) => signUp(token, wish(`limited${i}`)))
      assert.deepStrictEqual(responses.map(({ status }) => status), [200, 200, 200, 200, 200, 429])
      assert.deepStrictEqual(responses[5]?.body, { error: "Too many requests" })
    }))

  it.effect("row 75: 5 e-mails in 30 minutes for one user", () =>
    Effect.gen(function*() {
      const [tokens, sql] = [yield* Tokens, yield* SqlClient.SqlClient]
      const app = yield* client("write")
      const accountId = yield* user("lena")
      yield* sql`UPDATE users SET confirmed_at = NULL, created_by_app_id = ${app.id} WHERE account_id = ${accountId}`
      const { secret } = yield* tokens.issue({ appId: app.id, accountId }, ["write"])
      const headers = { authorization: `Bearer ${Redacted.value(secret)}` }
      const resend = Effect.map(post("/api/v1/emails/confirmations", {}, headers), ({ status }) => status)
      assert.deepStrictEqual(yield* Effect.replicateEffect(resend, 6), [200, 200, 200, 200, 200, 429])
    }))
})

layer(server({ registrations: "approval", signupConfirmation: "mail" }), { excludeTestServices: true })(
  "registrations with approval after a confirmation",
  (it) => {
    it.effect("F50 F52: the e-mail and the page announce a review, and staff are notified", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const moderator = yield* user("warden")
        yield* sql`UPDATE users SET role_id = (SELECT id FROM roles WHERE name = 'Moderator') WHERE account_id = ${moderator}`
        const token = yield* clientToken()
        assert.strictEqual((yield* signUp(token, { ...wish("waiter"), reason: "birds" })).status, 200)
        const email = yield* Postbox.next
        assert.include(email.text, "a moderator reviews your sign-up")
        const link = new URL(/https?:\/\/\S+/.exec(email.text)![0])
        for (const visit of ["first", "again"]) {
          const page = yield* send(link.pathname + link.search, { redirect: "manual" })
          assert.strictEqual(page.status, 200, visit)
          assert.match(page.text, /A moderator of \S+ will now review your sign-up/)
        }
        const told = yield* Postbox.next
        assert.deepInclude(told, { to: "warden@mail.example" })
        assert.match(told.subject, /^waiter requests an account/)
        assert.include(told.text, "birds")
        assert.match(told.text, /^Decide here: http.*\/admin\/accounts\/\d+$/m)
        yield* sql`UPDATE users SET approved = true WHERE email LIKE 'waiter@%'`
        const welcome = yield* send(link.pathname + link.search, { redirect: "manual" })
        assert.deepStrictEqual([welcome.status, welcome.headers.get("location")], [302, "myapp://back"])
      }))
  }
)
