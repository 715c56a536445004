import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { AdminRole } from "../../../../src/http/staff/wire/AdminRole.ts"
import { ask } from "../../../support/Api.ts"
import { TestServer } from "../../../support/Server.ts"
import { auditEntries, staffMember } from "../../../support/Staff.ts"

const path = "/api/v1/admin/roles"
const notAllowed = [403, { error: "This action is not allowed" }]
const notFound = [404, { error: "Record not found" }]

layer(TestServer.layer(), { excludeTestServices: true })("roles in the API", (it) => {
  it.effect("S-255: are created, shown, changed and removed, and the log names the actor", () =>
    Effect.gen(function*() {
      const owner = yield* staffMember("owner2", ["administrator"], 1000)
      const { body: all } = yield* ask(owner, "GET", path)
      yield* Schema.decodeUnknownEffect(Schema.Array(AdminRole))(all, { onExcessProperty: "error" })
      assert.deepStrictEqual(all.slice(0, 1), [{
        id: "-99",
        name: "",
        permissions: "65536",
        color: "",
        highlighted: false,
        collection_limit: 10,
        own_permissions: "65536",
        position: -1,
        require_2fa: false
      }])
      const { body: created } = yield* ask(owner, "POST", path, {
        name: " Helper ",
        color: "AbC",
        position: 5,
        permissions: 16,
        highlighted: "true",
        collection_limit: 3
      })
      assert.deepStrictEqual(created, {
        id: created.id,
        name: "Helper",
        permissions: "65552",
        color: "#abc",
        highlighted: true,
        collection_limit: 3,
        own_permissions: "16",
        position: 5,
        require_2fa: false
      })
      assert.deepStrictEqual((yield* ask(owner, "GET", `${path}/${created.id}`)).body, created)
      const changed = { ...created, name: "Aid", permissions: "65568", own_permissions: "32" }
      assert.deepStrictEqual(
        (yield* ask(owner, "PUT", `${path}/${created.id}`, { name: "Aid", permissions: "32" })).body,
        changed
      )
      assert.deepStrictEqual((yield* ask(owner, "DELETE", `${path}/${created.id}`)).body, {})
      const gone = yield* ask(owner, "GET", `${path}/${created.id}`)
      assert.deepStrictEqual([gone.status, gone.body], notFound)
      const role = { name: "Helper", color: "#abc", position: 5, highlighted: true, collectionLimit: 3 }
      const before = { ...role, permissions: "16", require2fa: false }
      const after = { ...before, name: "Aid", permissions: "32" }
      const entry = { username: "owner2", targetId: BigInt(created.id) }
      assert.deepStrictEqual(yield* auditEntries(owner.accountId), [
        { ...entry, act: "role destroy", targetLabel: "Aid", before: after, after: null },
        { ...entry, act: "role update", targetLabel: "Helper", before, after },
        { ...entry, act: "role create", targetLabel: "Helper", before: null, after: before }
      ])
    }))

  it.effect("S-252: staff cannot grant permissions they lack, nor change an equal or higher role", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const admin = yield* staffMember("admin3", ["manageRoles", "manageUsers"], 100)
      const equal = yield* staffMember("equal3", ["manageReports"], 100)
      const lower = yield* staffMember("lower3", ["manageReports"], 99)
      for (const id of [admin.roleId, equal.roleId, 3n]) {
        for (const method of ["PUT", "PATCH", "DELETE"]) {
          const { body, status } = yield* ask(admin, method, `${path}/${id}`, { name: "Mine" })
          assert.deepStrictEqual([status, body], notAllowed, `${method} ${id}`)
        }
      }
      const removing = yield* ask(admin, "DELETE", `${path}/-99`)
      assert.deepStrictEqual([removing.status, removing.body], notAllowed)
      const refusals: ReadonlyArray<readonly [string, object, string]> = [
        ["POST", {}, "Name can't be blank"],
        ["POST", { name: "x".repeat(101) }, "Name is too long (maximum is 100 characters)"],
        ["POST", { name: "x", color: "red" }, "Color is invalid"],
        ["POST", { name: "x", permissions: "all" }, "Permissions is invalid"],
        ["POST", { name: "x", permissions: "-1" }, "Permissions is invalid"],
        ["POST", { name: "x", permissions: String(2 ** 23) }, "Permissions is invalid"],
        [
          "POST",
          { name: "x", permissions: "1" },
          "Permissions cannot include permissions your current role does not possess"
        ],
        ["POST", { name: "x", position: -1 }, "Position is invalid"],
        ["POST", { name: "x", position: 100 }, "Position must be lower than that of your current role"],
        ["POST", { name: "x", collection_limit: -1 }, "Collection limit is invalid"]
      ]
      for (const [method, given, text] of refusals) {
        const { body, status } = yield* ask(admin, method, path, given)
        const expected = text === "Permissions is invalid" && "permissions" in given && given.permissions === "8388608"
          ? `${text}, Permissions cannot include permissions your current role does not possess`
          : text
        assert.deepStrictEqual([status, body.error], [422, `Validation failed: ${expected}`], JSON.stringify(given))
      }
      // A lower role may keep its permissions.
      const changed = yield* ask(admin, "PUT", `${path}/${lower.roleId}`, {
        name: "Kept",
        permissions: String(16 + 1024)
      })
      assert.deepInclude(changed.body, { name: "Kept", own_permissions: "1040" })
      const everybody = yield* ask(admin, "PUT", `${path}/-99`, { permissions: "1024" })
      assert.deepStrictEqual(
        everybody.body.error,
        "Validation failed: Permissions include permissions that are not safe for the base role"
      )
      const named = yield* ask(admin, "PUT", `${path}/-99`, { name: "All", position: 50, collection_limit: 20 })
      assert.deepInclude(named.body, { name: "", position: -1, collection_limit: 20 })
      for (const id of ["900000000000000001", "x", "99999999999999999999"]) {
        const { body, status } = yield* ask(admin, "GET", `${path}/${id}`)
        assert.deepStrictEqual([status, body], notFound, id)
      }
      // The log is immutable for everyone.
      for (const change of [sql`UPDATE audit_log SET username = 'ada'`, sql`DELETE FROM audit_log`]) {
        assert.strictEqual((yield* Effect.flip(change))._tag, "SqlError")
      }
    }))

  it.effect("S-252: two concurrent changes of a role are both applied, in order; staff who lose the permission are refused", () =>
    Effect.gen(function*() {
      const owner = yield* staffMember("owner4", ["administrator"], 1000)
      const admin = yield* staffMember("admin4", ["manageRoles"], 200)
      const { body: { id } } = yield* ask(owner, "POST", path, { name: "Both", permissions: "0" })
      const responses = yield* Effect.all(
        [
          ask(owner, "PUT", `${path}/${id}`, { name: "First" }),
          ask(admin, "PUT", `${path}/${id}`, { collection_limit: 4 }),
          ask(owner, "PUT", `${path}/${admin.roleId}`, { permissions: "0" })
        ],
        { concurrency: "unbounded" }
      )
      const [first, second, third] = responses
      assert.strictEqual(first.status, 200)
      assert.strictEqual(third.status, 200)
      assert.include([200, 403], second.status)
      const { body } = yield* ask(owner, "GET", `${path}/${id}`)
      assert.deepInclude(body, { name: "First", collection_limit: second.status === 200 ? 4 : 10 })
      assert.lengthOf(yield* auditEntries(admin.accountId), second.status === 200 ? 1 : 0)
    }))
})
