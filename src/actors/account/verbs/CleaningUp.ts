import { Clock, Effect } from "effect"
import { StatusId } from "../../../services/database/Ids.ts"
import { AgendaEntries } from "../../../services/intents/AgendaEntries.ts"
import { checkedCleanup } from "../../../services/statuses/PostCleanup.ts"
import { PostCleanups } from "../../../services/statuses/PostCleanups.ts"
import type { Ownership } from "../core/Ownership.ts"
import { type Commands, onAccount, type Verbs } from "../core/Verbs.ts"

/** Time between two steps of a pass, and between two passes, in milliseconds. */
const stepMillis = 60_000
const passMillis = 24 * 3_600_000

/**
 * Automated deletion of old posts: an agenda entry of the account deletes a few posts at a time, so that other servers
 * are not flooded with deletions.
 */
export const make = Effect.fnUntraced(function*({ Delete }: Pick<Verbs, "Delete">) {
  const agenda = yield* AgendaEntries
  const cleanups = yield* PostCleanups

  const verbs = {
    SetPostCleanup: Effect.fnUntraced(function*({ accountId }: Ownership, { policy }: Commands["SetPostCleanup"]) {
      yield* checkedCleanup(policy)
      yield* cleanups.write(accountId, policy)
      if (policy.enabled) {
        yield* agenda.enqueue("post_cleanup", accountId, accountId, (yield* Clock.currentTimeMillis) + stepMillis)
      } else yield* agenda.cancel("post_cleanup", accountId)
      return onAccount(accountId)
    })
  }

  return {
    verbs,
    /** Runs a step, and schedules the next one. */
    due: Effect.fnUntraced(function*(own: Ownership) {
      const step = yield* cleanups.step(own.accountId)
      if (step === undefined) return
      for (const id of step.statusIds) {
        yield* Delete(own, { _tag: "Delete", statusId: StatusId.make(id) }).pipe(
          Effect.catchTag("RecordNotFound", () => Effect.void)
        )
      }
      const dueAt = (yield* Clock.currentTimeMillis) + (step.more ? stepMillis : passMillis)
      yield* agenda.enqueue("post_cleanup", own.accountId, own.accountId, dueAt)
    })
  }
})
