import { assert, layer } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { Limits } from "../../../src/http/guard/Limits.ts"
import { AccountId } from "../../../src/services/database/Ids.ts"
import { TwoFactorReset } from "../../../src/services/identity/TwoFactorReset.ts"
import * as Scopes from "../../../src/services/oauth/Scopes.ts"
import { Tokens } from "../../../src/services/oauth/Tokens.ts"
import { type Permission, permissions } from "../../../src/services/staff/Permissions.ts"
import { nextStep, setUp } from "../../support/Authenticator.ts"
import { eventually } from "../../support/Eventually.ts"
import { get, postJson, send } from "../../support/Requests.ts"
import { user } from "../../support/SignedIn.ts"
import * as TestBrowser from "../../support/TestBrowser.ts"
import { Postbox, server } from "../../support/WebServer.ts"

const settings = "/settings/two_factor_authentication"

/** Creates a staff member with a token for all scopes. */
const staff = Effect.fnUntraced(function*(username: string, position: number, granted: ReadonlyArray<Permission>) {
  const sql = yield* SqlClient.SqlClient
  const accountId = yield* user(username)
  const bits = granted.reduce((sum, name) => sum | permissions[name], 0n)
  yield* sql`INSERT INTO roles (id, name, position, permissions)
    VALUES (${accountId}, ${username}, ${position}, ${bits})`
  yield* sql`UPDATE users SET role_id = ${accountId} WHERE account_id = ${accountId}`
  const { secret } = yield* (yield* Tokens).issue({ appId: undefined, accountId }, Scopes.all)
  return { accountId, roleId: accountId, token: Redacted.value(secret), username }
})

layer(server({}, { limits: Limits.layerMemory }), { excludeTestServices: true })(
  "roles that require a second factor",
  (it) => {
    it.effect("auth.md 6: without it the role grants nothing, in the API and for the user; with it everything", () =>
      Effect.gen(function*() {
        const owner = yield* staff("boss", 900, ["administrator"])
        const helper = yield* staff("helper", 10, ["manageReports", "viewDashboard"])
        const reports = () => Effect.map(get("/api/v1/admin/reports", helper.token), ({ status }) => status)
        const bits = () =>
          Effect.map(
            get("/api/v1/accounts/verify_credentials", helper.token),
            ({ body, status }) => [status, body.role.permissions]
          )
        assert.strictEqual(yield* reports(), 200)
        const { body: role } = yield* postJson("/api/v1/admin/roles", owner.token, {
          name: "Careful",
          position: 10,
          permissions: String(permissions.manageReports),
          require_2fa: true
        })
        assert.strictEqual(role.require_2fa, true)
        const changed = yield* send(`/api/v1/admin/roles/${helper.roleId}`, {
          method: "PATCH",
          headers: { authorization: `Bearer ${owner.token}` },
          body: new URLSearchParams({ require_2fa: "true" })
        })
        assert.strictEqual(changed.status, 200, changed.text)
        yield* eventually(reports(), (status) => status === 403)
        assert.deepStrictEqual(yield* bits(), [200, String(permissions.inviteUsers)])

        const browser = TestBrowser.make()
        const page = yield* browser.get("/auth/sign_in?return_to=%2Ftags%2Fx")
        const led = yield* browser.signIn(helper.username, page)
        assert.strictEqual(led.headers.get("location"), `${settings}?return_to=%2Ftags%2Fx`)
        assert.include((yield* browser.get(settings)).text, "You cannot use staff tools until it is on")
        const { app } = yield* setUp(browser)
        assert.strictEqual((yield* Postbox.next).to, "helper@mail.example")
        yield* eventually(reports(), (status) => status === 200)
        assert.deepStrictEqual(yield* bits(), [
          200,
          String(65_536n | permissions.manageReports | permissions.viewDashboard)
        ])
        yield* nextStep(helper.username)
        const again = TestBrowser.make()
        const asked = yield* again.signIn(helper.username)
        const code = yield* again.get(asked.headers.get("location") ?? "")
        const done = yield* again.submit(code, { otp_attempt: app.code() })
        assert.strictEqual(done.headers.get("location"), "/home")
      }))

    it.effect("staff with the permission remove it from lower users, with a log entry and an e-mail", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const reset = yield* TwoFactorReset
        const keeper = yield* staff("keeper", 50, ["manageUserAccess"])
        const peer = yield* staff("peer", 50, [])
        const lacking = yield* staff("lacking", 60, ["manageUsers"])
        const member = AccountId.make(yield* user("member"))
        for (const username of [peer.username, "member"]) {
          const browser = TestBrowser.make()
          yield* browser.signIn(username)
          yield* setUp(browser)
        }
        const tag = (by: bigint, target: bigint) =>
          Effect.map(Effect.flip(reset.disable(AccountId.make(target), AccountId.make(by))), ({ _tag }) => _tag)
        assert.strictEqual(yield* tag(lacking.accountId, member), "NotAllowed")
        assert.strictEqual(yield* tag(keeper.accountId, peer.accountId), "NotAllowed")
        assert.strictEqual(yield* tag(keeper.accountId, keeper.accountId), "NotAllowed")
        yield* reset.disable(member, keeper.accountId)
        assert.strictEqual(yield* tag(keeper.accountId, member), "RecordNotFound", "once")
        assert.deepStrictEqual(
          yield* sql`SELECT account_id, target_id, after FROM audit_log WHERE action = 'disable_2fa' ORDER BY id`,
          [
            { accountId: keeper.accountId, targetId: member, after: null },
            { accountId: keeper.accountId, targetId: member, after: { refused: "Record not found" } }
          ],
          "also who came too late"
        )
        const letters = yield* Effect.replicateEffect(Postbox.next, 3)
        assert.include(
          letters.map(({ subject, to }) => `${to} ${subject}`),
          "member@mail.example Two-factor sign-in is off (local.example)"
        )
        const browser = TestBrowser.make()
        assert.strictEqual((yield* browser.signIn("member")).headers.get("location"), "/home")
      }))

    it.effect("row 75: codes can be guessed ten times in half an hour, from any browser and address", () =>
      Effect.gen(function*() {
        yield* user("target")
        const own = TestBrowser.make()
        yield* own.signIn("target")
        yield* setUp(own)
        const statuses: Array<number> = []
        for (let round = 0; round < 3; round++) {
          const browser = TestBrowser.make()
          const led = yield* browser.signIn("target")
          const page = yield* browser.get(led.headers.get("location") ?? "")
          for (let guess = 0; guess < 4; guess++) {
            statuses.push((yield* browser.submit(page, { otp_attempt: `00000${guess}` })).status)
          }
        }
        // Two uses went into the set-up.
        assert.deepStrictEqual(statuses, [...Array.from({ length: 8 }, () => 422), 429, 429, 429, 429])
      }))
  }
)
