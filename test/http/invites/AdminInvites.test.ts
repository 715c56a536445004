import { NodeServices } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import { Clock, Effect, FileSystem, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { AdminInvite } from "../../../src/http/invites/wire/AdminInvite.ts"
import * as CatalogFiles from "../../../src/layers/CatalogFiles.ts"
import { Emails } from "../../../src/services/emails/Emails.ts"
import { Broadcast } from "../../../src/services/events/Broadcast.ts"
import { AutoClosing } from "../../../src/services/identity/AutoClosing.ts"
import { InstancePolicies } from "../../../src/services/instance/InstancePolicies.ts"
import { InstanceSettings } from "../../../src/services/instance/InstanceSettings.ts"
import { ServerConfig } from "../../../src/services/instance/ServerConfig.ts"
import { UserCatalogs } from "../../../src/services/instance/UserCatalogs.ts"
import { ask } from "../../support/Api.ts"
import { configurationOf } from "../../support/Configuration.ts"
import { eventually } from "../../support/Eventually.ts"
import { TestServer } from "../../support/Server.ts"
import { registerWith } from "../../support/SignUps.ts"
import { auditEntries, staffMember } from "../../support/Staff.ts"

const path = "/api/v1/admin/invites"

const Live = Layer.provideMerge(
  TestServer.layer({ REGISTRATIONS: "closed", SIGNUP_CONFIRMATION: "none" }),
  NodeServices.layer
)

layer(Live, { excludeTestServices: true })("invites", (it) => {
  it.effect("S-017 S-018 S-235: admit users within the limits of staff; new members follow their inviter and are welcomed", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const host = yield* staffMember("host", ["manageInvites"])
      assert.strictEqual((yield* registerWith("early", {})).status, 403)
      const { body: created, status } = yield* ask(host, "POST", path, {
        max_uses: 1,
        expires_in: 1800,
        autofollow: true
      })
      assert.strictEqual(status, 200, JSON.stringify(created))
      yield* Schema.decodeUnknownEffect(AdminInvite)(created, { onExcessProperty: "error" })
      assert.match(created.code, /^[2-9A-HJ-NP-Za-km-z]{8}$/)
      assert.deepInclude(created, { max_uses: 1, uses: 0, valid: true, autofollow: true })
      const responses = yield* Effect.all(
        ["first", "second", "third"].map((name) => registerWith(name, { invite_code: created.code })),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(responses.map((one) => one.status).toSorted(), [200, 403, 403], "row 76")
      const [listed] = (yield* ask(host, "GET", path)).body
      assert.deepInclude(listed, { id: created.id, uses: 1, valid: false })
      assert.strictEqual(listed.account.username, "host")
      yield* eventually(
        sql<{ count: number }>`SELECT count(*)::int AS count FROM follows WHERE target_account_id = ${host.accountId}`,
        ([row]) => row?.count === 1
      )
      const fs = yield* FileSystem.FileSystem
      const folder = `${(yield* TestServer).variables["DATA_DIR"]}/mail`
      const letters = Effect.gen(function*() {
        const names = yield* Effect.orElseSucceed(fs.readDirectory(folder), () => [])
        return yield* Effect.forEach(names, (name) => fs.readFileString(`${folder}/${name}`))
      })
      yield* eventually(letters, (all) => all.filter((text) => /^Subject: Welcome to /m.test(text)).length === 1)
    }))

  it.effect("S-017: an ended or expired invite is void, and an invalid one is refused", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const host = yield* staffMember("host2", ["manageInvites"])
      const make = (more: object = {}) => Effect.map(ask(host, "POST", path, more), ({ body }) => body)
      const ended = yield* make()
      assert.deepInclude(ended, { max_uses: null, expires_at: null, autofollow: false })
      assert.deepStrictEqual((yield* ask(host, "DELETE", `${path}/${ended.id}`)).body, {})
      assert.strictEqual((yield* ask(host, "DELETE", `${path}/${ended.id}`)).status, 404)
      const over = yield* make({ expires_in: 1800 })
      yield* sql`UPDATE invites SET expires_at = ${new Date((yield* Clock.currentTimeMillis) - 1)} WHERE id = ${
        BigInt(over.id)
      }`
      const inviter = yield* staffMember("host3", ["manageInvites"])
      const { body: of } = yield* ask(inviter, "POST", path, {})
      yield* sql`UPDATE users SET disabled = true WHERE account_id = ${inviter.accountId}`
      for (const code of [ended.code, over.code, of.code, "NOTACODE"]) {
        assert.strictEqual((yield* registerWith("late", { invite_code: code })).status, 403, code)
      }
      for (const wrong of [{ max_uses: 2 }, { max_uses: -1 }, { expires_in: 60 }, { expires_in: 604_801 }]) {
        assert.strictEqual((yield* ask(host, "POST", path, wrong)).status, 422, JSON.stringify(wrong))
      }
      const acts = (yield* auditEntries(host.accountId)).map(({ act, after }) => [act, JSON.stringify(after)])
      assert.deepStrictEqual(acts.map(([act]) => act), ["invite create", "invite destroy", "invite create"])
      assert.notInclude(JSON.stringify(acts), over.code, "the log lets nobody in")
    }))

  it.effect("S-017 S-235: sign-ups give a reason and an age, where staff require it; the birthday is not stored", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const by = yield* staffMember("keeper", ["manageSettings"])
      yield* ask(by, "PATCH", "/api/v1/admin/settings", {
        registrations_mode: "approved",
        require_invite_text: true,
        min_age: 16
      })
      const year = new Date(yield* Clock.currentTimeMillis).getUTCFullYear()
      const problems = Effect.fnUntraced(function*(more: object) {
        const { body } = yield* registerWith("wisher", more)
        return Object.fromEntries(
          Object.entries<ReadonlyArray<{ readonly error: string }>>(body.details ?? {})
            .map(([field, all]) => [field, all.map(({ error }) => error)])
        )
      })
      assert.deepStrictEqual(yield* problems({}), { reason: ["ERR_BLANK"], date_of_birth: ["ERR_BLANK"] })
      const reason = "Birds"
      for (
        const [date, error] of [
          [`${year - 15}-01-01`, "ERR_BELOW_LIMIT"],
          [`${year - 16}-12-31`, "ERR_BELOW_LIMIT"],
          ["1990-02-30", "ERR_INVALID"],
          [`${year + 1}-01-01`, "ERR_INVALID"],
          ["soon", "ERR_INVALID"]
        ] as const
      ) {
        assert.deepStrictEqual(yield* problems({ reason, date_of_birth: date }), { date_of_birth: [error] }, date)
      }
      assert.strictEqual((yield* registerWith("wisher", { reason, date_of_birth: "1969-7-20" })).status, 200)
      const [stored] = yield* sql<{ readonly row: string; readonly verified: boolean; readonly approved: boolean }>`
        SELECT to_jsonb(u)::text AS row, u.age_verified_at IS NOT NULL AS verified, u.approved FROM users u
        WHERE u.email = 'wisher@mail.example'`
      assert.deepInclude(stored, { verified: true, approved: false })
      assert.notInclude(stored!.row, "1969")
    }))

  it.effect("S-017: a sign-up waits for a moderator if none was active for a week, and staff are notified", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const by = yield* staffMember("absent", ["manageSettings", "manageUsers"])
      const told: Array<string> = []
      const emails = Layer.succeed(Emails, {
        enqueue: (email) => Effect.map(email, (one) => void told.push(one?.to ?? "nobody"))
      })
      const run = Effect.provide(
        Effect.flatMap(AutoClosing, ({ run }) => run),
        Layer.fresh(AutoClosing.layerNoDeps).pipe(
          Layer.provide([Layer.fresh(InstanceSettings.layer), Layer.fresh(InstancePolicies.layer), emails]),
          Layer.provide(UserCatalogs.layer.pipe(Layer.provide(CatalogFiles.layer))),
          Layer.provide([Broadcast.layerMemory, Layer.succeed(ServerConfig, configurationOf("here.test"))])
        )
      )
      const set = (more: object) => ask(by, "PATCH", "/api/v1/admin/settings", { registrations_mode: "open", ...more })
      const mode = Effect.map(
        sql<{ readonly value: string }>`SELECT value FROM settings WHERE name = 'registrations_mode'`,
        ([row]) => row?.value
      )
      yield* set({ auto_close_registrations: true })
      yield* sql`UPDATE users SET last_seen_at = ${new Date(yield* Clock.currentTimeMillis)}
        WHERE account_id = ${by.accountId}`
      yield* run
      assert.strictEqual(yield* mode, "open", "somebody is there")
      yield* sql`UPDATE users SET last_seen_at = ${new Date((yield* Clock.currentTimeMillis) - 7.1 * 86_400_000)}`
      yield* run
      assert.strictEqual(yield* mode, "approval")
      assert.deepStrictEqual(told, ["absent@example.org"])
      yield* set({ auto_close_registrations: false })
      yield* sql`UPDATE users SET last_seen_at = ${new Date(0)}`
      yield* run
      assert.strictEqual(yield* mode, "open", "nobody asked for it")
    }))
})
