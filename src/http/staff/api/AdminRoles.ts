import { Effect, Layer, Option, Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { RecordNotFound, validationFailed } from "../../../services/runtime/Errors.ts"
import { traced } from "../../../services/runtime/Traced.ts"
import { defaultRole } from "../../../services/staff/Permissions.ts"
import { Roles } from "../../../services/staff/Roles.ts"
import { type RoleChange, RoleWriter } from "../../../services/staff/RoleWriter.ts"
import { Access } from "../../guard/Access.ts"
import { Caller } from "../../guard/Caller.ts"
import { group } from "../../guard/Group.ts"
import { Guard } from "../../guard/Guard.ts"
import * as Reply from "../../guard/Reply.ts"
import { encode } from "../../wire/Keys.ts"
import { AdminRole, adminRole, RolePath, RoleWrite } from "../wire/AdminRole.ts"

const reading = Access.staff("manageRoles", "admin:read")
const writing = Access.staff("manageRoles", "admin:write")
const path = "/api/v1/admin/roles"
const changing = { params: RolePath, payload: RoleWrite, success: AdminRole }

export class AdminRolesGroup extends HttpApiGroup.make("admin/roles")
  .add(
    HttpApiEndpoint.get("all", path, { success: Schema.Array(AdminRole) }).annotate(Access, reading),
    HttpApiEndpoint.post("create", path, { payload: RoleWrite, success: AdminRole }).annotate(Access, writing),
    HttpApiEndpoint.get("show", `${path}/:id`, { params: RolePath, success: AdminRole }).annotate(Access, reading),
    HttpApiEndpoint.put("replace", `${path}/:id`, changing).annotate(Access, writing),
    HttpApiEndpoint.patch("change", `${path}/:id`, changing).annotate(Access, writing),
    HttpApiEndpoint.delete("remove", `${path}/:id`, { params: RolePath, success: Schema.Struct({}) })
      .annotate(Access, writing)
  )
  .middleware(Guard)
{}

interface Changing {
  readonly params: { readonly id: bigint }
  readonly payload: RoleWrite
}

/** Roles for staff (S-235, S-252, S-255). */
export const layer = group(
  AdminRolesGroup,
  Effect.fn(function*(handlers) {
    const roles = yield* Roles
    const writer = yield* RoleWriter

    const defaultPermissions = Effect.map(
      roles.get(defaultRole),
      Option.match({ onNone: () => 0n, onSome: ({ permissions }) => permissions })
    )
    const shown = Effect.fnUntraced(function*(id: bigint) {
      const role = Option.getOrUndefined(yield* roles.get(id))
      if (role === undefined) return yield* new RecordNotFound()
      return Reply.json(encode<AdminRole>(adminRole(role, yield* defaultPermissions)))
    })

    const change = traced("admin.roles.change")(function*({ params, payload }: Changing) {
      yield* writer.update(yield* Caller.account, params.id, yield* changeOf(payload))
      return yield* shown(params.id)
    })

    return handlers.handleAll({
      all: traced("admin.roles.all")(function*() {
        const found = yield* roles.list
        const bits = found.find(({ id }) => id === defaultRole)?.permissions ?? 0n
        return Reply.list(found.map((role) => encode<AdminRole>(adminRole(role, bits))))
      }),
      create: traced("admin.roles.create")(function*({ payload }) {
        return yield* shown(yield* writer.create(yield* Caller.account, yield* changeOf(payload)))
      }),
      show: traced("admin.roles.show")(({ params }) => shown(params.id)),
      replace: change,
      change,
      remove: traced("admin.roles.remove")(function*({ params }) {
        yield* writer.remove(yield* Caller.account, params.id)
        return Reply.empty
      })
    })
  })
).pipe(Layer.provide(RoleWriter.layer))

const bitmask = /^[0-9]{1,19}$/

const changeOf = Effect.fnUntraced(function*({ permissions, ...fields }: RoleWrite) {
  if (permissions === undefined) return fields
  if (!bitmask.test(permissions)) return yield* validationFailed("Permissions is invalid")
  const change: RoleChange = { ...fields, permissions: BigInt(permissions) }
  return change
})
