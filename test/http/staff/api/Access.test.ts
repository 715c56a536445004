import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { type Permission, permissions } from "../../../../src/services/staff/Permissions.ts"
import { pathOf, type Route, routes } from "../../../safety/Routes.ts"
import { ask } from "../../../support/Api.ts"
import type { Person } from "../../../support/Server.ts"
import { TestServer } from "../../../support/Server.ts"
import { staffMember } from "../../../support/Staff.ts"

const adminRoutes = routes.filter(({ path }) => path.includes("/admin/"))
const isPermission = (name: string): name is Permission => name in permissions
const names = Object.keys(permissions).filter(isPermission)

const refused = { error: "This action is not allowed" }
/** Id without an object: permitted calls find nothing to act on. */
const nothing = "900000000000000001"

const responseTo = (by: Person, route: Route) =>
  ask(by, route.method, pathOf(route, nothing), route.method === "GET" || route.method === "DELETE" ? undefined : {})

layer(TestServer.layer(), { excludeTestServices: true })("routes of staff", (it) => {
  it.effect("S-021 S-252 S-255: each requires one of its permissions, and accepts no others", () =>
    Effect.gen(function*() {
      let [let_in, kept_out] = [0, 0]
      for (const route of adminRoutes) assert.isNotEmpty(route.rule.permissions, `${route.method} ${route.path}`)
      const nobody = yield* staffMember("nobody", [])
      for (const route of adminRoutes) {
        const { body, status } = yield* responseTo(nobody, route)
        assert.deepStrictEqual([status, body], [403, refused], `${route.method} ${route.path} without any`)
        kept_out++
      }
      for (const name of names) {
        const by = yield* staffMember(`bit${names.indexOf(name)}`, [name])
        for (const route of adminRoutes) {
          const about = `${route.method} ${route.path} with ${name}`
          const { body, status } = yield* responseTo(by, route)
          if (name === "administrator" || route.rule.permissions.includes(name)) {
            assert.notDeepEqual([status, body], [403, refused], about)
            assert.isBelow(status, 500, about)
            let_in++
          } else {
            assert.deepStrictEqual([status, body], [403, refused], about)
            kept_out++
          }
        }
      }
      console.info(`${adminRoutes.length} routes of staff, ${let_in} calls let in, ${kept_out} kept out`)
    }))

  it.effect("S-252: a removed permission ends at once, for all users of the role and everywhere", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const owner = yield* staffMember("owner1", ["administrator"], 1000)
      const helper = yield* staffMember("helper1", ["manageRoles"], 20)
      const path = "/api/v1/admin/roles"
      assert.strictEqual((yield* ask(helper, "GET", path)).status, 200)
      yield* ask(owner, "PUT", `${path}/${helper.roleId}`, { permissions: "16" })
      assert.strictEqual((yield* ask(helper, "GET", path)).status, 403)
      yield* ask(owner, "PUT", `${path}/${helper.roleId}`, { permissions: "131072" })
      assert.strictEqual((yield* ask(helper, "GET", path)).status, 200)
      assert.strictEqual((yield* ask(owner, "DELETE", `${path}/${helper.roleId}`)).status, 200)
      assert.strictEqual((yield* ask(helper, "GET", path)).status, 403)
      const [row] = yield* sql<{ roleId: bigint }>`SELECT role_id FROM users WHERE account_id = ${helper.accountId}`
      assert.strictEqual(row?.roleId, -99n)
    }))
})
