import { Effect, Struct } from "effect"
import type { Messages } from "../../../../services/languages/Messages.ts"
import { validationFailed } from "../../../../services/runtime/Errors.ts"
import { defaultRole, type Permission, permissions } from "../../../../services/staff/Permissions.ts"
import type { Role } from "../../../../services/staff/Roles.ts"
import { type Html, html } from "../../../html/Html.ts"
import type { Visit } from "../StaffVisit.ts"
import { button, checkbox, form, textField } from "./Controls.ts"
import { permissionNames } from "./PermissionNames.ts"
import { section } from "./Texts.ts"

export const rolesPath = "/admin/roles"

export const roleName = ({ say }: Pick<Messages, "say">, { id, name }: Pick<Role, "id" | "name">): string =>
  id === defaultRole ? say("Everyone") : name

const names: ReadonlyArray<Permission> = Struct.keys(permissions)

/** Returns the permissions that the visitor may grant: their own; for the default role only those for invites. */
const grantablePermissions = (visit: Visit, role: Role | undefined): ReadonlyArray<Permission> =>
  names.filter((name) =>
    visit.may(name) && (role?.id !== defaultRole || name === "inviteUsers" || name === "inviteBypassApproval")
  )

/** Form of a role; `undefined` for a new one. */
export const roleForm = (visit: Visit, role: Role | undefined): Html => {
  const { words: { say }, words } = visit
  const base = role?.id === defaultRole
  return form(
    visit,
    html`${
      base ? "" : section(
        say("Role"),
        html`${
          textField(visit, { name: "name", label: say("Name"), value: role?.name ?? "", required: true, max: 100 })
        }${
          textField(visit, {
            name: "position",
            type: "number",
            label: say("Priority"),
            hint: say("The role with the higher priority wins. Must be lower than yours."),
            value: String(role?.position ?? 0)
          })
        }${
          textField(visit, {
            name: "color",
            label: say("Badge color"),
            hint: say("As #rrggbb, or empty."),
            value: role?.color ?? ""
          })
        }${
          checkbox(visit, {
            name: "highlighted",
            label: say("Show the role as a badge on profiles"),
            checked: role?.highlighted ?? false
          })
        }${
          checkbox(visit, {
            name: "require_2fa",
            label: say("Requires two-factor sign-in"),
            hint: say("Members get the permissions of the role after they set up two-factor sign-in."),
            checked: role?.require2fa ?? false
          })
        }`
      )
    }${
      section(
        say("Permissions"),
        html`<p class="soft">${
          say("You can grant only permissions that you have. Permissions not listed stay unchanged.")
        }</p>${
          grantablePermissions(visit, role).map((name) =>
            checkbox(visit, {
              name: "permissions[]",
              value: name,
              label: permissionNames[name](words),
              checked: role !== undefined && (role.permissions & permissions[name]) !== 0n
            })
          )
        }${
          textField(visit, {
            name: "collection_limit",
            type: "number",
            label: say("Max collections per member"),
            value: String(role?.collectionLimit ?? 10)
          })
        }`
      )
    }<p class="row">${button("save", say("Save"), "main")}</p>`
  )
}

const wholeNumber = Effect.fnUntraced(function*(visit: Visit, field: string, name: string) {
  const text = visit.form.get(field)?.trim() ?? ""
  return /^-?\d{1,6}$/.test(text) ? Number(text) : yield* validationFailed(`${name} is invalid`)
})

/** Returns the role in the form; permissions that the visitor lacks stay as in `before`. */
export const changeIn = Effect.fnUntraced(function*(visit: Visit, before: bigint, base = false) {
  const { form: sent } = visit
  const asked = new Set(sent.getAll("permissions"))
  const grantable = names.filter((name) => visit.may(name))
  const ungrantable = before & ~grantable.reduce((bits, name) => bits | permissions[name], 0n)
  const bits = grantable.filter((name) => asked.has(name)).reduce((sum, name) => sum | permissions[name], ungrantable)
  const collectionLimit = yield* wholeNumber(visit, "collection_limit", "Collection limit")
  if (base) return { permissions: bits, collectionLimit }
  return {
    name: sent.get("name") ?? "",
    color: sent.get("color")?.trim() ?? "",
    position: yield* wholeNumber(visit, "position", "Position"),
    highlighted: sent.get("highlighted") === "yes",
    require2fa: sent.get("require_2fa") === "yes",
    permissions: bits,
    collectionLimit
  }
})
