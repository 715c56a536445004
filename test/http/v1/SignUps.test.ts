import { assert, layer } from "@effect/vitest"
import { Effect, Redacted, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Limits } from "../../../src/http/guard/Limits.ts"
import { Token } from "../../../src/http/wire/Token.ts"
import { AccountId } from "../../../src/services/Ids.ts"
import { Tokens } from "../../../src/services/oauth/Tokens.ts"
import { type Answer, client, get, password, post, Postbox, send, server, user } from "../../support/SignInServer.ts"
import { locationOf } from "../../support/TestBrowser.ts"

const clientToken = Effect.fnUntraced(function*(scopes = "read write") {
  const app = yield* client(scopes, "myapp://back")
  const { secret } = yield* (yield* Tokens).issue({ appId: app.id }, app.scopes)
  return Redacted.value(secret)
})

const wish = (username: string) => ({
  username,
  email: `${username}@mail.example`,
  password,
  agreement: "true",
  locale: "en"
})

const signUp = (token: string, parameters: Record<string, string>) =>
  post("/api/v1/accounts", parameters, { authorization: `Bearer ${token}` })

const details = ({ body, status }: Answer) => {
  assert.strictEqual(status, 422)
  const fields: Record<string, ReadonlyArray<{ error: string; description: string }>> = body.details
  return Object.fromEntries(
    Object.entries(fields).map(([field, problems]) => [field, problems.map(({ error }) => error)])
  )
}

const invite = Effect.fnUntraced(function*(
  code: string,
  settings: { readonly by: string; readonly maxUses?: number; readonly expiresAt?: Date }
) {
  const sql = yield* SqlClient.SqlClient
  const accountId = yield* user(settings.by)
  yield* sql`INSERT INTO invites (id, code, account_id, max_uses, expires_at, created_at)
    VALUES (next_id(0), ${code}, ${accountId}, ${settings.maxUses ?? null}, ${settings.expiresAt ?? null}, ${new Date(
    0
  )})`
  return accountId
})

layer(server(), { excludeTestServices: true })("sign-ups", (it) => {
  it.effect("S-100 S-130 S-133 S-247 a user signs up in an app, confirms by the link in a letter, and comes back to it", () =>
    Effect.gen(function*() {
      const answer = yield* signUp(yield* clientToken(), { ...wish("alma"), reason: "Because." })
      assert.strictEqual(answer.status, 200)
      Schema.decodeUnknownSync(Token)(answer.body, { onExcessProperty: "error" })
      assert.strictEqual(answer.body.scope, "read write")
      const token = answer.body.access_token
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
      for (const _ of ["once", "again, as programs that look into mails do"]) {
        assert.strictEqual(locationOf(yield* open(link)).href, "myapp://back")
      }
      assert.deepStrictEqual((yield* check).body, true)
      const late = yield* post("/api/v1/emails/confirmations", {}, { authorization: `Bearer ${token}` })
      assert.deepStrictEqual([late.status, late.body], [
        403,
        { error: "This method is only available while the e-mail is awaiting confirmation" }
      ])
      const open2 = yield* get("/oauth/userinfo", token)
      assert.deepStrictEqual(open2.body, { error: "This action is outside the authorized scopes" }, "confirmed")
    }))

  it.effect("S-133 the address may be corrected before it is confirmed, by the app that signed the user up only", () =>
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
      const answer = yield* resend({}, Redacted.value(foreign.secret))
      assert.deepStrictEqual([answer.status, answer.body], [
        403,
        { error: "This method is only available to the application the user originally signed-up with" }
      ])
    }))

  it.effect("S-130 needs the app's own token with write:accounts", () =>
    Effect.gen(function*() {
      const tokens = yield* Tokens
      const app = yield* client("read write")
      const own = yield* tokens.issue({ appId: app.id, accountId: yield* user("arno") }, ["write"])
      const answer = yield* signUp(Redacted.value(own.secret), wish("bodo"))
      assert.deepStrictEqual([answer.status, answer.body], [
        403,
        { error: "This method requires an client credentials authentication" }
      ])
      assert.strictEqual((yield* signUp(yield* clientToken("read"), wish("bodo"))).status, 403)
      assert.strictEqual((yield* post("/api/v1/accounts", wish("bodo"))).status, 401)
      assert.strictEqual((yield* signUp(yield* clientToken("write:accounts"), wish("bodo"))).status, 200)
    }))

  it.effect("S-131 S-271 tells every problem by field and code", () =>
    Effect.gen(function*() {
      const token = yield* clientToken()
      yield* user("carla")
      const problems = (more: Record<string, string>) =>
        Effect.map(signUp(token, { ...wish("dora"), ...more }), details)
      for (const agreement of ["", "false", "0", "off"]) {
        const answer = yield* signUp(token, { ...wish("dora"), agreement })
        assert.deepStrictEqual(answer.body, {
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
      assert.deepStrictEqual(yield* problems({ locale: "<script>" }), { locale: ["ERR_INVALID"] })
      const sql = yield* SqlClient.SqlClient
      yield* sql`INSERT INTO retired_usernames VALUES ('erna', ${new Date(0)})`
      assert.deepStrictEqual(yield* problems({ username: "Erna" }), { username: ["ERR_TAKEN"] })
    }))

  it.effect("ten sign-ups at once with one name make one account", () =>
    Effect.gen(function*() {
      const token = yield* clientToken()
      const answers = yield* Effect.all(
        Array.from({ length: 10 }, (_, i) => signUp(token, { ...wish("ferdi"), email: `ferdi${i}@mail.example` })),
        { concurrency: 10 }
      )
      assert.strictEqual(answers.filter(({ status }) => status === 200).length, 1)
      for (const answer of answers) {
        if (answer.status !== 200) assert.deepStrictEqual(details(answer), { username: ["ERR_TAKEN"] })
      }
    }))

  it.effect("parameters come as JSON, too", () =>
    Effect.gen(function*() {
      const answer = yield* send("/api/v1/accounts", {
        method: "POST",
        body: JSON.stringify({ ...wish("gerd"), agreement: true, time_zone: "Europe/Berlin" }),
        headers: { authorization: `Bearer ${yield* clientToken()}`, "content-type": "application/json" }
      })
      assert.strictEqual(answer.status, 200)
      const sql = yield* SqlClient.SqlClient
      const rows = yield* sql`SELECT u.time_zone, u.locale, u.approved, s.statuses_count, c.epoch FROM users u
        JOIN accounts a ON a.id = u.account_id JOIN account_stats s ON s.account_id = a.id
        JOIN actors c ON c.account_id = a.id WHERE a.username = 'gerd'`
      assert.deepStrictEqual(rows, [
        { timeZone: "Europe/Berlin", locale: "en", approved: true, statusesCount: 0, epoch: 0n }
      ])
    }))
})

layer(server({ registrations: "closed", signupConfirmation: "none" }), { excludeTestServices: true })(
  "closed registrations",
  (it) => {
    const forbidden = { error: "Forbidden" }

    it.effect("S-131 S-270 S-018 are 403 without a good invite", () =>
      Effect.gen(function*() {
        const token = yield* clientToken()
        yield* invite("EXPIRED2", { by: "host1", expiresAt: new Date(1) })
        yield* invite("USEDUP22", { by: "host2", maxUses: 0 })
        const disabled = yield* invite("DISABLED", { by: "host3" })
        yield* (yield* SqlClient.SqlClient)`UPDATE users SET disabled = true WHERE account_id = ${disabled}`
        for (const invite_code of ["", "UNKNOWN2", "EXPIRED2", "USEDUP22", "DISABLED"]) {
          const answer = yield* signUp(token, { ...wish("hans"), invite_code })
          assert.deepStrictEqual([answer.status, answer.body], [403, forbidden], invite_code)
        }
        yield* invite("GOODONE2", { by: "host4" })
        assert.strictEqual((yield* signUp(token, { ...wish("hans"), invite_code: "GOODONE2" })).status, 200)
      }))

    it.effect("row 76: 50 sign-ups at once with an invite for one let one in", () =>
      Effect.gen(function*() {
        const [token, sql] = [yield* clientToken(), yield* SqlClient.SqlClient]
        yield* invite("ONLYONE2", { by: "host5", maxUses: 1 })
        const answers = yield* Effect.all(
          Array.from({ length: 50 }, (_, i) => signUp(token, { ...wish(`guest${i}`), invite_code: "ONLYONE2" })),
          { concurrency: 50 }
        )
        assert.strictEqual(answers.filter(({ status }) => status === 200).length, 1)
        assert.strictEqual(answers.filter(({ status }) => status === 403).length, 49)
        const [row] = yield* sql`SELECT (SELECT count(*)::int FROM accounts WHERE username LIKE 'guest%') AS accounts,
          uses FROM invites WHERE code = 'ONLYONE2'`
        assert.deepStrictEqual(row, { accounts: 1, uses: 1 })
      }))

    it.effect("row 76: a sign-up that fails does not use the invite up", () =>
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
    it.effect("S-017 row 76: a user waits for a moderator, unless the inviter may let people in", () =>
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
  it.effect("S-131 row 75: 5 sign-ups in 30 minutes from an address", () =>
    Effect.gen(function*() {
      const token = yield* clientToken()
      const answers = yield* Effect.forEach(Array.from({ length: 6 }), (_, i) => signUp(token, wish(`limited${i}`)))
      assert.deepStrictEqual(answers.map(({ status }) => status), [200, 200, 200, 200, 200, 429])
      assert.deepStrictEqual(answers[5]?.body, { error: "Too many requests" })
    }))

  it.effect("row 75: 5 letters in 30 minutes for one user", () =>
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
