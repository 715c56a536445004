import { Effect } from "effect"
import type { AccountId } from "../../../services/database/Ids.ts"
import type { Broadcast } from "../../../services/events/Broadcast.ts"

/** Broadcasts that statuses and their author's counters changed. */
export const publishChange = (
  broadcast: Broadcast["Service"],
  accountId: AccountId,
  statuses: ReadonlyArray<bigint>
): Effect.Effect<void> =>
  Effect.andThen(
    broadcast.publish({ _tag: "Changed", kind: "account", ids: [accountId] }),
    statuses.length === 0 ? Effect.void : broadcast.publish({ _tag: "Changed", kind: "status", ids: statuses })
  )
