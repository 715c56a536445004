import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { ask, newPerson, settled } from "../../../support/Api.ts"
import { eventually } from "../../../support/Eventually.ts"
import { type Person, TestServer } from "../../../support/Server.ts"
import { auditEntries, staffMember } from "../../../support/Staff.ts"

const path = (one: { readonly accountId: bigint }, action = "") => `/api/v1/admin/accounts/${one.accountId}${action}`
const notAllowed = [403, { error: "This action is not allowed" }]
const notFound = [404, { error: "Record not found" }]

/** Moderation warning in a notification. */
interface Told {
  readonly moderation_warning?: Record<string, unknown>
}

const response = Effect.fnUntraced(function*(by: Person, method: string, to: string, json?: unknown) {
  const { body, status } = yield* ask(by, method, to, json ?? (method === "POST" ? {} : undefined))
  return [status, body]
})

const report = Effect.fnUntraced(function*(by: Person, about: Person) {
  const { body } = yield* ask(by, "POST", "/api/v1/reports", { account_id: String(about.accountId), comment: "Bad" })
  return String(body.id)
})

const openReports = (about: Person) =>
  SqlClient.SqlClient.use((sql) =>
    sql<{ id: bigint }>`SELECT id FROM reports WHERE target_account_id = ${about.accountId} AND action_taken_at IS NULL`
  )

const warnings = (of: Person) =>
  Effect.map(
    ask(of, "GET", "/api/v1/notifications?types[]=moderation_warning"),
    ({ body }) => body
  )

const acts = Effect.fnUntraced(function*(by: Person) {
  return (yield* auditEntries(by.accountId)).map(({ act }) => act)
})

layer(TestServer.layer(), { excludeTestServices: true })(
  "moderators' actions on accounts",
  (it) => {
    it.effect("S-022 S-023 S-113: each action applies, is notified, resolves open reports and is undone", () =>
      Effect.gen(function*() {
        const moderator = yield* staffMember("moderator1", ["manageUsers"])
        const [bad, witness] = [yield* newPerson("bad1"), yield* newPerson("witness1")]
        const cases = [
          ["silence", "unsilence", "silenced"],
          ["sensitive", "unsensitive", "sensitized"],
          ["disable", "enable", "disabled"],
          ["suspend", "unsuspend", "suspended"]
        ] as const
        for (const [type, undo, state] of cases) {
          yield* report(witness, bad)
          yield* report(witness, bad)
          assert.lengthOf(yield* openReports(bad), 2)
          const done = yield* response(moderator, "POST", path(bad, "/action"), { type, text: `You ${type}` })
          assert.deepStrictEqual(done, [200, {}])
          assert.lengthOf(yield* openReports(bad), 0, type)
          assert.isTrue((yield* ask(moderator, "GET", path(bad))).body[state])
          if (type === "disable" || type === "suspend") {
            assert.strictEqual((yield* ask(bad, "GET", "/api/v1/timelines/home")).status, 403)
          }
          // The second moderator is refused.
          assert.deepStrictEqual(yield* response(moderator, "POST", path(bad, "/action"), { type }), [422, {
            error: "Validation failed: Type has been taken already"
          }])
          const { body } = yield* ask(moderator, "POST", path(bad, `/${undo}`), {})
          assert.isFalse(body[state])
          assert.include([200, 206], (yield* ask(bad, "GET", "/api/v1/timelines/home")).status)
        }
        assert.deepStrictEqual(
          yield* acts(moderator),
          cases.flatMap(([type, undo]) => [
            `account ${type}`,
            "report resolve",
            "report resolve",
            // Refused because it applied already.
            `account ${type}`,
            `account ${undo}`
          ]).toReversed()
        )
        const told = yield* warnings(bad)
        assert.deepStrictEqual(
          told.map(({ moderation_warning: one }: Told) => [one?.action, one?.text, one?.status_ids, one?.appeal]),
          cases.map(([type]) => [type, `You ${type}`, null, null]).toReversed()
        )
        assert.strictEqual(told[0].moderation_warning.target_account.id, String(bad.accountId))
        assert.strictEqual(told[0].account.id, String(bad.accountId))
        const { body: grouped } = yield* ask(bad, "GET", "/api/v2/notifications")
        assert.include(
          grouped.notification_groups.map(({ moderation_warning: one }: Told) => one?.action),
          "suspend"
        )
      }))

    it.effect("S-023: a warning resolves only its own report, and sends no notification without a recipient", () =>
      Effect.gen(function*() {
        const moderator = yield* staffMember("moderator2", ["manageUsers"])
        const [bad, other, witness] = [
          yield* newPerson("bad2"),
          yield* newPerson("other2"),
          yield* newPerson("witness2")
        ]
        const [first, second] = [yield* report(witness, bad), yield* report(witness, bad)]
        const elsewhere = yield* report(witness, other)
        const act = (json: object) => response(moderator, "POST", path(bad, "/action"), json)
        assert.deepStrictEqual(yield* act({ type: "none", text: "Beware", send_email_notification: "0" }), [200, {}])
        assert.lengthOf(yield* openReports(bad), 2)
        assert.lengthOf(yield* warnings(bad), 0)
        assert.deepStrictEqual(yield* act({ type: "none", report_id: first }), [200, {}])
        assert.deepStrictEqual((yield* openReports(bad)).map(({ id }) => String(id)), [second])
        assert.deepStrictEqual(yield* act({ type: "silence", report_id: first }), [422, {
          error: "Validation failed: Report has been resolved already"
        }])
        for (const id of [elsewhere, "900000000000000001", "x"]) {
          assert.deepStrictEqual(yield* act({ type: "silence", report_id: id }), notFound, id)
        }
        for (const type of [undefined, "", "freeze", null]) {
          assert.strictEqual((yield* act({ type })).at(0), 422)
        }
        assert.deepStrictEqual(yield* act({ type: "freeze" }), [422, {
          error: "Validation failed: Type is not included in the list"
        }])
        assert.deepStrictEqual(yield* act({ type: "none", text: "x".repeat(5_001) }), [422, {
          error: "Validation failed: Text is too long (maximum is 5000 characters)"
        }])
      }))

    it.effect("S-252: an action on an equal or higher role or on the staff member's own account is refused", () =>
      Effect.gen(function*() {
        const moderator = yield* staffMember("moderator3", ["manageUsers", "deleteUserData"], 50)
        const equal = yield* staffMember("equal3", [], 50)
        const owner = yield* staffMember("owner3", ["administrator"], 1000)
        for (const target of [moderator, equal, owner]) {
          for (const type of ["none", "disable", "sensitive", "silence", "suspend"]) {
            const about = `${type} ${target.username}`
            assert.deepStrictEqual(
              yield* response(moderator, "POST", path(target, "/action"), { type }),
              notAllowed,
              about
            )
          }
          for (const action of ["enable", "unsilence", "unsuspend", "unsensitive", "approve", "reject"]) {
            assert.deepStrictEqual(yield* response(moderator, "POST", path(target, `/${action}`)), notAllowed, action)
          }
          assert.deepStrictEqual(yield* response(moderator, "DELETE", path(target)), notAllowed)
        }
        assert.deepStrictEqual(yield* acts(moderator), [])
        // The owner outranks all roles.
        assert.deepStrictEqual(yield* response(owner, "POST", path(moderator, "/action"), { type: "disable" }), [
          200,
          {}
        ])
        assert.strictEqual((yield* ask(moderator, "GET", path(equal))).status, 403)
      }))

    it.effect("S-234: a pending user is approved or rejected once; a second decision is refused", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const moderator = yield* staffMember("moderator4", ["manageUsers"])
        const other = yield* staffMember("other4", ["manageUsers"])
        const wait = Effect.fnUntraced(function*(name: string) {
          const one = yield* newPerson(name)
          yield* sql`UPDATE users SET approved = false WHERE account_id = ${one.accountId}`
          return one
        })
        const waiting = yield* wait("waiting4")
        const { body } = yield* ask(moderator, "POST", path(waiting, "/approve"), {})
        assert.isTrue(body.approved)
        const signUps = yield* ask(other, "GET", "/api/v1/notifications?types[]=admin.sign_up")
        assert.deepStrictEqual(
          signUps.body.map(({ account, type }: { readonly account: { acct: string }; readonly type: string }) => [
            type,
            account.acct
          ]),
          [["admin.sign_up", "waiting4"]]
        )
        for (const action of ["approve", "reject"]) {
          assert.deepStrictEqual(yield* response(other, "POST", path(waiting, `/${action}`)), notAllowed)
        }
        const unwanted = yield* wait("unwanted4")
        assert.deepStrictEqual(yield* response(moderator, "POST", path(unwanted, "/reject")), [200, {}])
        assert.deepStrictEqual(yield* response(moderator, "GET", path(unwanted)), notFound)
        assert.deepStrictEqual(yield* acts(moderator), ["account reject", "account approve"])
        // Concurrent: one of them succeeds, the other is refused.
        for (const at of [1, 2, 3, 4]) {
          const disputed = yield* wait(`disputed${at}`)
          const responses = yield* Effect.all([
            response(moderator, "POST", path(disputed, "/approve")),
            response(other, "POST", path(disputed, "/reject"))
          ], { concurrency: "unbounded" })
          const won = responses.filter(([status]) => status === 200)
          assert.lengthOf(won, 1)
          assert.include([403, 404], responses.find(([status]) => status !== 200)?.[0])
          // The log has both.
          const logged = yield* sql<{ lost: boolean }>`SELECT coalesce(after ? 'refused', false) AS lost FROM audit_log
            WHERE target_id = ${disputed.accountId} ORDER BY lost`
          assert.deepStrictEqual(logged, [{ lost: false }, { lost: true }])
        }
      }))

    it.effect("S-022: a suspended account is deleted permanently, and is invisible at once", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const admin = yield* staffMember("deleter5", ["manageUsers", "deleteUserData"])
        const moderator = yield* staffMember("helper5", ["manageUsers"])
        const bad = yield* newPerson("bad5")
        const { body: post } = yield* ask(bad, "POST", "/api/v1/statuses", { status: "Hello" })
        assert.deepStrictEqual(yield* response(admin, "DELETE", path(bad)), notAllowed)
        yield* response(admin, "POST", path(bad, "/action"), { type: "suspend" })
        assert.deepStrictEqual(yield* response(moderator, "DELETE", path(bad)), notAllowed)
        assert.deepStrictEqual(yield* response(admin, "DELETE", path(bad)), [200, {}])
        assert.strictEqual((yield* ask(bad, "GET", "/api/v1/accounts/verify_credentials")).status, 401)
        assert.strictEqual((yield* ask(undefined, "GET", `/api/v1/statuses/${post.id}`)).status, 404)
        assert.deepStrictEqual(yield* response(admin, "POST", path(bad, "/unsuspend")), notFound)
        assert.deepStrictEqual(yield* response(admin, "DELETE", path(bad)), notAllowed)
        yield* settled
        yield* eventually(sql`SELECT id FROM statuses WHERE account_id = ${bad.accountId}`, (rows) => rows.length === 0)
        // Actions after the deletion are refused.
        assert.deepStrictEqual(yield* acts(admin), [
          "account destroy",
          "account unsuspend",
          "account destroy",
          "account suspend"
        ])
      }))
  }
)
