import { assert, describe, it, layer } from "@effect/vitest"
import { Effect, Layer, Option, Schema } from "effect"
import { combined, defaultRole, may, type Permission, permissions } from "../../../src/services/staff/Permissions.ts"
import { Roles } from "../../../src/services/staff/Roles.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"

const bits = (...names: ReadonlyArray<Permission>) => names.reduce((sum, name) => sum | permissions[name], 0n)
const Bits = Schema.Array(Schema.Literals(Object.keys(permissions)))

describe("S-252 permissions", () => {
  it.prop("are the user's own and everybody's, and all of an administrator", [Bits, Bits], ([own, everybodys]) => {
    const names = (given: ReadonlyArray<string>) =>
      bits(...Object.keys(permissions).filter(isPermission).filter((name) => given.includes(name)))
    const found = combined(names(own), names(everybodys))
    for (const name of Object.keys(permissions).filter(isPermission)) {
      const expected = [...own, ...everybodys].some((granted) => granted === name || granted === "administrator")
      assert.strictEqual(may(found, name), expected, name)
    }
  })
})

describe("S-255 roles", () => {
  it("have permissions with the names and bits that moderation apps know", () => {
    const names =
      `administrator view_devops view_audit_log view_dashboard manage_reports manage_federation manage_settings
      manage_blocks manage_taxonomies manage_appeals manage_users manage_invites manage_rules manage_announcements
      manage_custom_emojis manage_webhooks invite_users manage_roles manage_user_access delete_user_data view_feeds
      invite_bypass_approval manage_email_subscriptions`.split(/\s+/)
    const snake = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
    assert.sameDeepMembers(
      Object.entries(permissions).map(([name, value]) => [snake(name), value]),
      names.map((name, bit) => [name, 1n << BigInt(bit)])
    )
  })
})

const isPermission = (name: string): name is Permission => name in permissions

layer(Roles.layer.pipe(Layer.provide(TestDatabase.layer)))("Roles", (it) => {
  it.effect("S-252 the server starts with the roles everybody, moderators, admins and owners", () =>
    Effect.gen(function*() {
      const roles = yield* Roles
      const list = yield* roles.list
      assert.deepStrictEqual(list.map(({ id, name, position }) => [id, name, position]), [
        [defaultRole, "", -1],
        [1n, "Moderator", 10],
        [2n, "Admin", 100],
        [3n, "Owner", 1000]
      ])
      const moderator = bits(
        ...["viewDashboard", "viewAuditLog", "viewFeeds"] as const,
        ...["manageUsers", "manageReports", "manageTaxonomies"] as const
      )
      assert.strictEqual((Option.getOrThrow(yield* roles.find("moderator"))).permissions, moderator)
      const owner = Option.getOrThrow(yield* roles.find("OWNER"))
      assert.isTrue(may(combined(owner.permissions, 0n), "manageUserAccess"))
      assert.isTrue(Option.isNone(yield* roles.find("nobody")))
    }))
})
