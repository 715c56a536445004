import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { RecordNotFound } from "../../../services/runtime/Errors.ts"
import { AlreadyDone, AuditLog } from "../../../services/staff/AuditLog.ts"
import { requirePermission } from "../../../services/staff/Rank.ts"
import { ReviewedStatuses } from "../../../services/statuses/ReviewedStatuses.ts"
import type { Ownership } from "../core/Ownership.ts"
import { type Commands, onStatus } from "../core/Verbs.ts"
import * as Controlling from "./Controlling.ts"
import type { Editing } from "./Editing.ts"

/** Moderators' decisions on the account's posts that are held for review; inside the transaction of a command. */
export const make = Effect.fnUntraced(function*({ verbs }: Editing) {
  const sql = yield* SqlClient.SqlClient
  const control = yield* Controlling.make
  const log = yield* AuditLog
  const reviewed = yield* ReviewedStatuses
  const standing = requirePermission(sql)

  return {
    verbs: {
      ReviewPost: Effect.fnUntraced(
        function*(own: Ownership, { approved, by, statusId }: Commands["ReviewPost"]) {
          const { accountId } = own
          yield* standing(by, ["manageReports", "manageRules"])
          const act = {
            by,
            action: approved ? "approve" : "reject",
            target: { type: "status", id: statusId, label: `#${statusId}` }
          } as const
          const alreadyDecided = new AlreadyDone({ act, refusal: new RecordNotFound() })
          // The second of two concurrent decisions finds no held post.
          if (!(yield* reviewed.isHeld(statusId))) return yield* alreadyDecided
          if (approved) {
            if (!(yield* reviewed.release(accountId, statusId))) return yield* alreadyDecided
            yield* control.revealed(accountId, statusId)
          } else yield* verbs.Delete(own, { _tag: "Delete", statusId })
          yield* log.record({ ...act, after: { account: accountId } })
          return onStatus(statusId)
        }
      )
    }
  }
})
