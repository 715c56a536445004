import { Effect, Layer, Option } from "effect"
import { RecordNotFound } from "../../../services/runtime/Errors.ts"
import { defaultRole } from "../../../services/staff/Permissions.ts"
import { Roles } from "../../../services/staff/Roles.ts"
import { RoleWriter } from "../../../services/staff/RoleWriter.ts"
import { html } from "../../html/Html.ts"
import { actButton } from "./parts/Controls.ts"
import { changeIn, roleForm, roleName, rolesPath } from "./parts/RoleForm.ts"
import { section } from "./parts/Texts.ts"
import { StaffPages } from "./StaffPages.ts"
import { requireId, type Visit } from "./StaffVisit.ts"

const make = Effect.gen(function*() {
  const roles = yield* Roles
  const staff = yield* StaffPages
  const writer = yield* RoleWriter

  const asked = Effect.fnUntraced(function*(visit: Visit) {
    const found = Option.getOrUndefined(yield* roles.get(yield* requireId(visit)))
    return found ?? (yield* new RecordNotFound())
  })

  const show = Effect.fnUntraced(function*(visit: Visit) {
    const { member, words: { say }, words } = visit
    const role = yield* asked(visit)
    const name = roleName(words, role)
    return {
      title: say("Role: {name}", { name }),
      body: role.position >= member.position
        ? html`<p>${say("This role is not below your own, so you cannot change it.")}</p>`
        : html`${roleForm(visit, role)}${
          role.id === defaultRole ? "" : section(
            say("Remove"),
            html`<p class="soft">${say("Members of the role keep only the permissions that everyone has.")}</p>${
              actButton(visit, "remove", say("Delete role"), { kind: "danger" })
            }`
          )
        }`
    }
  })

  return staff.page({
    path: "/admin/roles/:id",
    permission: "manageRoles",
    show,
    acts: {
      save: {
        run: Effect.fnUntraced(function*(visit) {
          const role = yield* asked(visit)
          yield* writer.update(visit.by, role.id, yield* changeIn(visit, role.permissions, role.id === defaultRole))
          return { notice: visit.words.say("The role was changed."), to: rolesPath }
        })
      },
      remove: {
        confirm: (visit) =>
          Effect.map(asked(visit), (role) => ({
            title: visit.words.say("Delete the role {name}?", { name: roleName(visit.words, role) }),
            text: visit.words.say("Its members keep only the permissions that everyone has. This cannot be undone."),
            button: visit.words.say("Delete role"),
            danger: true
          })),
        run: Effect.fnUntraced(function*(visit) {
          yield* writer.remove(visit.by, yield* requireId(visit))
          return { notice: visit.words.say("The role was deleted."), to: rolesPath }
        })
      }
    }
  })
})

/** Page of one role: its permissions and its removal. */
export const layer = Layer.unwrap(make).pipe(Layer.provide(RoleWriter.layer))
