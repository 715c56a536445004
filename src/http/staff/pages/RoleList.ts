import { Effect, Layer } from "effect"
import { defaultRole } from "../../../services/staff/Permissions.ts"
import { permissions } from "../../../services/staff/Permissions.ts"
import { Roles } from "../../../services/staff/Roles.ts"
import { RoleWriter } from "../../../services/staff/RoleWriter.ts"
import { html } from "../../html/Html.ts"
import { permissionNames } from "./parts/PermissionNames.ts"
import { changeIn, roleForm, roleName, rolesPath } from "./parts/RoleForm.ts"
import { table } from "./parts/Tables.ts"
import { badge } from "./parts/Texts.ts"
import { StaffPages } from "./StaffPages.ts"
import type { Visit } from "./StaffVisit.ts"

const make = Effect.gen(function*() {
  const roles = yield* Roles
  const staff = yield* StaffPages
  const writer = yield* RoleWriter

  const show = Effect.fnUntraced(function*(visit: Visit) {
    const { member, words: { figure, say }, words } = visit
    const all = (yield* roles.list).toReversed()
    const rows = all.map((role) => {
      const bits = Object.entries(permissions).filter(([, bit]) => (role.permissions & bit) !== 0n).length
      return [
        html`<a href="${rolesPath}/${String(role.id)}">${roleName(words, role)}</a>${
          role.highlighted ? html` ${badge(say("Badge"))}` : ""
        }${role.require2fa ? html` ${badge(say("Requires two-factor sign-in"), "good")}` : ""}`,
        role.id === defaultRole ? "" : figure(role.position),
        (role.permissions & permissions.administrator) !== 0n
          ? permissionNames.administrator(words)
          : say("{bits, plural, one {# permission} other {# permissions}}", { bits }),
        role.position < member.position ? "" : say("Not below your own role")
      ]
    })
    return {
      title: say("Roles"),
      body: html`<p class="soft">${
        say(
          "You cannot act on people whose role has the same or a higher priority. The base role applies to everyone."
        )
      }</p><p><a href="${rolesPath}/new">${say("New role")}</a></p>${
        table([say("Role"), say("Priority"), say("Permissions"), say("Changed by")], rows, say("Roles"))
      }`
    }
  })

  const list = staff.page({ path: "/admin/roles", permission: "manageRoles", show })
  const fresh = staff.page({
    path: "/admin/roles/new",
    permission: "manageRoles",
    show: (visit) => Effect.succeed({ title: visit.words.say("New role"), body: roleForm(visit, undefined) }),
    acts: {
      save: {
        run: Effect.fnUntraced(function*(visit) {
          const id = yield* writer.create(visit.by, yield* changeIn(visit, 0n))
          return { notice: visit.words.say("The role was created."), to: `${rolesPath}/${id}` }
        })
      }
    }
  })
  return Layer.merge(list, fresh)
})

/** List of roles, and a form for a new one. */
export const layer = Layer.unwrap(make).pipe(Layer.provide(RoleWriter.layer))
