import { Effect, Layer, Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import type { AccountId } from "../../../services/database/Ids.ts"
import { requireEmail } from "../../../services/identity/RegistrationRules.ts"
import { AccountControls } from "../../../services/moderation/AccountControls.ts"
import { RecordNotFound } from "../../../services/runtime/Errors.ts"
import { traced } from "../../../services/runtime/Traced.ts"
import { defaultRole } from "../../../services/staff/Permissions.ts"
import { Access } from "../../guard/Access.ts"
import { Caller } from "../../guard/Caller.ts"
import { group } from "../../guard/Group.ts"
import { Guard } from "../../guard/Guard.ts"
import * as Reply from "../../guard/Reply.ts"
import { AccountIdPath } from "../../wire/ReadRequests.ts"
import { AdminAccountViews } from "../render/AdminAccountViews.ts"
import { AdminAccount, EmailWrite, RoleOfAccount } from "../wire/AdminAccount.ts"
import { decodeId } from "./DecodedIds.ts"

const scopes = ["admin:write", "admin:write:accounts"] as const
const path = "/api/v1/admin/accounts/:id"
const shown = { params: AccountIdPath, success: AdminAccount }

export class AdminAccountControlsGroup extends HttpApiGroup.make("admin/accountControls")
  .add(
    HttpApiEndpoint.post("changeEmail", `${path}/change_email`, { ...shown, payload: EmailWrite })
      .annotate(Access, Access.staff("manageUsers", ...scopes)),
    HttpApiEndpoint.post("resend", `${path}/resend_confirmation`, { params: AccountIdPath, success: Schema.Struct({}) })
      .annotate(Access, Access.staff("manageUsers", ...scopes)),
    HttpApiEndpoint.post("changeRole", `${path}/role`, { ...shown, payload: RoleOfAccount })
      .annotate(Access, Access.staff("manageRoles", ...scopes)),
    HttpApiEndpoint.post("memorialize", `${path}/memorialize`, shown)
      .annotate(Access, Access.staff("deleteUserData", ...scopes))
  )
  .middleware(Guard)
{}

/** Staff actions on accounts other than moderation. Mastodon has only web pages for them. */
export const layer = group(
  AdminAccountControlsGroup,
  Effect.fn(function*(handlers) {
    const controls = yield* AccountControls
    const views = yield* AdminAccountViews
    const shows = (id: AccountId) => Effect.map(views.renderOne(id), (account) => Reply.json(account))
    return handlers.handleAll({
      changeEmail: traced("admin.accountControls.changeEmail")(function*({ params: { id }, payload }) {
        yield* controls.changeEmail(yield* Caller.account, id, yield* requireEmail(payload.email ?? ""))
        return yield* shows(id)
      }),
      resend: traced("admin.accountControls.resend")(function*({ params: { id } }) {
        yield* controls.resend(yield* Caller.account, id)
        return Reply.empty
      }),
      changeRole: traced("admin.accountControls.changeRole")(function*({ params: { id }, payload }) {
        const { roleId } = payload
        const role = roleId === String(defaultRole) ? defaultRole : yield* decodeId(roleId)
        if (role === null) return yield* new RecordNotFound()
        yield* controls.changeRole(yield* Caller.account, id, role)
        return yield* shows(id)
      }),
      memorialize: traced("admin.accountControls.memorialize")(function*({ params: { id } }) {
        yield* controls.memorialize(yield* Caller.account, id)
        return yield* shows(id)
      })
    })
  })
).pipe(Layer.provide([AccountControls.layer, AdminAccountViews.layer]))
