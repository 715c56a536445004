import { Effect, Layer, Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { AccountActors } from "../../../actors/account/core/AccountActors.ts"
import type { AccountId } from "../../../services/database/Ids.ts"
import { Approvals } from "../../../services/identity/Approvals.ts"
import { actionTypes, type LastingType } from "../../../services/moderation/ActionTypes.ts"
import { AdminAccounts } from "../../../services/moderation/AdminAccounts.ts"
import { WarningPresets } from "../../../services/moderation/WarningPresets.ts"
import { validationFailed } from "../../../services/runtime/Errors.ts"
import { traced } from "../../../services/runtime/Traced.ts"
import { Access } from "../../guard/Access.ts"
import { Caller } from "../../guard/Caller.ts"
import { group } from "../../guard/Group.ts"
import { Guard } from "../../guard/Guard.ts"
import * as Reply from "../../guard/Reply.ts"
import { AccountIdPath } from "../../wire/ReadRequests.ts"
import { AdminAccountViews } from "../render/AdminAccountViews.ts"
import { AccountActionWrite, AdminAccount } from "../wire/AdminAccount.ts"
import { decodeId } from "./DecodedIds.ts"

const writing = Access.staff("manageUsers", "admin:write", "admin:write:accounts")
const deleting = Access.staff("deleteUserData", "admin:write", "admin:write:accounts")
const path = "/api/v1/admin/accounts/:id"
const shown = { params: AccountIdPath, success: AdminAccount }
const empty = { params: AccountIdPath, success: Schema.Struct({}) }

export class AdminAccountActionsGroup extends HttpApiGroup.make("admin/accountActions")
  .add(
    HttpApiEndpoint.delete("remove", path, empty).annotate(Access, deleting),
    HttpApiEndpoint.post("approve", `${path}/approve`, shown).annotate(Access, writing),
    HttpApiEndpoint.post("reject", `${path}/reject`, empty).annotate(Access, writing),
    HttpApiEndpoint.post("enable", `${path}/enable`, shown).annotate(Access, writing),
    HttpApiEndpoint.post("unsilence", `${path}/unsilence`, shown).annotate(Access, writing),
    HttpApiEndpoint.post("unsuspend", `${path}/unsuspend`, shown).annotate(Access, writing),
    HttpApiEndpoint.post("unsensitive", `${path}/unsensitive`, shown).annotate(Access, writing),
    HttpApiEndpoint.post("act", `${path}/action`, { ...empty, payload: AccountActionWrite }).annotate(Access, writing)
  )
  .middleware(Guard)
{}

interface OnAccount {
  readonly params: { readonly id: AccountId }
}

/** Moderation of accounts, by commands of their actors (S-021, S-022, S-023, S-277). */
export const layer = group(
  AdminAccountActionsGroup,
  Effect.fn(function*(handlers) {
    const accounts = yield* AdminAccounts
    const actors = yield* AccountActors
    const approvals = yield* Approvals
    const presets = yield* WarningPresets
    const views = yield* AdminAccountViews

    const shown = (id: bigint) => Effect.map(views.renderOne(id), (account) => Reply.json(account))
    const lift = (type: LastingType) =>
      Effect.fnUntraced(function*({ params: { id } }: OnAccount) {
        yield* accounts.find(id)
        yield* actors.tell(id, { _tag: "LiftAction", by: yield* Caller.account, type })
        return yield* shown(id)
      })

    return handlers.handleAll({
      remove: traced("admin.accountActions.remove")(function*({ params: { id } }) {
        yield* accounts.find(id)
        yield* actors.tell(id, { _tag: "DeleteAccount", by: yield* Caller.account })
        return Reply.empty
      }),
      approve: traced("admin.accountActions.approve")(function*({ params: { id } }) {
        yield* approvals.approve(id, yield* Caller.account)
        return yield* shown(id)
      }),
      reject: traced("admin.accountActions.reject")(function*({ params: { id } }) {
        yield* approvals.reject(id, yield* Caller.account)
        return Reply.empty
      }),
      enable: lift("disable"),
      unsilence: lift("silence"),
      unsuspend: lift("suspend"),
      unsensitive: lift("sensitive"),
      act: traced("admin.accountActions.act")(function*({ params: { id }, payload }) {
        const by = yield* Caller.account
        yield* accounts.find(id)
        const type = actionTypes.find((one) => one === payload.type)
        if (type === undefined) return yield* validationFailed("Type is not included in the list")
        const tells = payload.sendEmailNotification ?? true
        const reportId = yield* decodeId(payload.reportId)
        const presetId = yield* decodeId(payload.warningPresetId)
        const preset = presetId === null ? undefined : yield* presets.find(presetId)
        yield* actors.tell(id, {
          _tag: "TakeAction",
          by,
          type,
          // The preset comes first, then the moderator's own text.
          text: [preset?.text ?? "", payload.text ?? ""].filter((text) => text !== "").join("\n\n"),
          reportId,
          tells
        })
        return Reply.empty
      })
    })
  })
).pipe(
  Layer.provide([
    AdminAccountViews.layer,
    AdminAccounts.layer,
    Approvals.layer,
    WarningPresets.layer
  ])
)
