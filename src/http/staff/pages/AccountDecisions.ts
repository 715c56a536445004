import { Context, Effect, Layer } from "effect"
import { AccountActors } from "../../../actors/account/core/AccountActors.ts"
import { AccountId } from "../../../services/database/Ids.ts"
import { Approvals } from "../../../services/identity/Approvals.ts"
import type { ActionType, LastingType } from "../../../services/moderation/ActionTypes.ts"
import { AdminAccounts } from "../../../services/moderation/AdminAccounts.ts"
import type { ClientError } from "../../../services/runtime/Errors.ts"

/** Moderation action that staff take against an account. */
interface AccountAction {
  readonly type: ActionType
  readonly text: string
  readonly reportId: bigint | null
  /** True if the account's owner is told. */
  readonly tells: boolean
}

type CommandEffect = Effect.Effect<void, ClientError>

/** Actions of staff pages on accounts: the same commands as those of the API. */
export class AccountDecisions extends Context.Service<AccountDecisions, {
  readonly take: (by: AccountId, id: bigint, action: AccountAction) => CommandEffect
  readonly lift: (by: AccountId, id: bigint, type: LastingType) => CommandEffect
  readonly approve: (by: AccountId, id: bigint) => CommandEffect
  readonly reject: (by: AccountId, id: bigint) => CommandEffect
  readonly remove: (by: AccountId, id: bigint) => CommandEffect
}>()("murmuration/http/staff/pages/AccountDecisions") {
  static readonly layer = Layer.effect(
    AccountDecisions,
    Effect.gen(function*() {
      const accounts = yield* AdminAccounts
      const actors = yield* AccountActors
      const approvals = yield* Approvals
      return AccountDecisions.of({
        take: Effect.fnUntraced(function*(by, id, { reportId, tells, text, type }) {
          yield* accounts.find(id)
          yield* actors.tell(AccountId.make(id), { _tag: "TakeAction", by, type, text, reportId, tells })
        }),
        lift: Effect.fnUntraced(function*(by, id, type) {
          yield* accounts.find(id)
          yield* actors.tell(AccountId.make(id), { _tag: "LiftAction", by, type })
        }),
        approve: (by, id) => Effect.asVoid(approvals.approve(AccountId.make(id), by)),
        reject: (by, id) => Effect.asVoid(approvals.reject(AccountId.make(id), by)),
        remove: Effect.fnUntraced(function*(by, id) {
          yield* accounts.find(id)
          yield* actors.tell(AccountId.make(id), { _tag: "DeleteAccount", by })
        })
      })
    })
  ).pipe(Layer.provide([AdminAccounts.layer, Approvals.layer]))
}
