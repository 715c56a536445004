import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { StatusId } from "../../../services/database/Ids.ts"
import { PromisedEmails } from "../../../services/emails/PromisedEmails.ts"
import * as RowChanges from "../../../services/events/RowChanges.ts"
import { NotificationWriter } from "../../../services/feeds/NotificationWriter.ts"
import { CollectionActions } from "../../../services/moderation/CollectionActions.ts"
import { StatusActions } from "../../../services/moderation/StatusActions.ts"
import { update } from "../../../services/statuses/StatusRows.ts"
import { StatusTargets } from "../../../services/statuses/StatusTargets.ts"
import { written } from "../../../services/statuses/Written.ts"
import type { Ownership } from "../core/Ownership.ts"
import { type Commands, onWarning } from "../core/Verbs.ts"
import type { Collecting } from "./Collecting.ts"
import type { Editing } from "./Editing.ts"
import * as Reviewing from "./Reviewing.ts"

/**
 * Moderates the account's posts and collections: deletes them, or marks them as sensitive, as if their author did it.
 */
export const make = Effect.fnUntraced(function*(
  { verbs }: Editing,
  { verbs: collecting }: Collecting
) {
  const sql = yield* SqlClient.SqlClient
  const actions = yield* StatusActions
  const tracked = yield* RowChanges.make
  const collectionActions = yield* CollectionActions
  const emails = yield* PromisedEmails
  const notificationWriter = yield* NotificationWriter
  const reviewing = yield* Reviewing.make({ verbs })
  const statusTargets = yield* StatusTargets

  /** Marks a status as sensitive, or not. A local one is edited, so that other servers receive the change. */
  const mark = Effect.fnUntraced(function*(own: Ownership, statusId: bigint, sensitive: boolean) {
    const old = yield* statusTargets.own(own.accountId, statusId)
    if (old.local) {
      const post = { ...written(old), text: old.text, sensitive }
      return yield* verbs.Edit(own, { ...post, _tag: "Edit", statusId: StatusId.make(statusId) })
    }
    yield* tracked("status", [statusId])(sql`${update(sql, { sensitive })} WHERE id = ${statusId}`)
  })

  const markCollection = Effect.fnUntraced(
    function*(own: Ownership, { id, local }: { readonly id: bigint; readonly local: boolean }, sensitive: boolean) {
      yield* local
        ? collecting.UpdateCollection(own, { _tag: "UpdateCollection", collectionId: id, said: { sensitive } })
        : collectionActions.markRemote(id, sensitive)
    }
  )

  return {
    mark,
    markCollection,
    verbs: {
      ...reviewing.verbs,
      ModerateStatuses: Effect.fnUntraced(function*(own: Ownership, command: Commands["ModerateStatuses"]) {
        const { accountId } = own
        const { collections, statusIds, strike } = yield* actions.take(accountId, command)
        for (const statusId of statusIds) {
          if (command.type === "delete") yield* verbs.Delete(own, { _tag: "Delete", statusId: StatusId.make(statusId) })
          else yield* mark(own, statusId, true)
        }
        for (const one of collections) {
          if (command.type !== "delete") yield* markCollection(own, one, true)
          else if (!one.local) yield* collectionActions.removeRemote(one.id)
          else yield* collecting.DeleteCollection(own, { _tag: "DeleteCollection", collectionId: one.id })
        }
        if (command.tells) {
          yield* notificationWriter.notifyOwners("moderation_warning", [{ id: strike, accountId }])
          yield* emails.promise("strike", strike)
        }
        return onWarning(strike)
      })
    }
  }
})

export type ModeratingStatuses = Effect.Success<ReturnType<typeof make>>
