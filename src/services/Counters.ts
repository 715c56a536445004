import type { Effect } from "effect"
import type { SqlClient } from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import { traced } from "./Traced.ts"

/** A change of an account's figures that goes with a row that was really inserted or deleted. */
export interface AccountChange {
  readonly accountId: bigint
  readonly followers?: number
  readonly following?: number
  readonly statuses?: number
}

/** A change of a status' figures. */
export interface StatusChange {
  readonly statusId: bigint
  readonly replies?: number
  readonly reblogs?: number
  readonly favourites?: number
}

const byId = (a: bigint, b: bigint) => a < b ? -1 : a > b ? 1 : 0

/** The statement that changes an account's figures; `lastStatusAt` is the time of a new status where `statuses` grow. */
export const ofAccount = (sql: SqlClient, change: AccountChange, lastStatusAt: Date | null = null) =>
  sql`UPDATE account_stats SET
        followers_count = followers_count + ${change.followers ?? 0},
        following_count = following_count + ${change.following ?? 0},
        statuses_count = statuses_count + ${change.statuses ?? 0},
        last_status_at = CASE WHEN ${
    change.statuses ?? 0
  }::int > 0 THEN coalesce(${lastStatusAt}, last_status_at) ELSE last_status_at END
      WHERE account_id = ${change.accountId}`

/**
 * Changes counters in the running transaction, accounts before statuses and each in the order of ids, so that
 * transactions of different accounts never wait for one another in a circle. Call it as the transaction's last write.
 * What another server states of its own status goes along until that states it anew.
 */
export const count = traced("Counters.count")(function*(
  sql: SqlClient,
  accounts: ReadonlyArray<AccountChange>,
  statuses: ReadonlyArray<StatusChange> = [],
  lastStatusAt: Date | null = null
): Effect.fn.Return<void, SqlError> {
  for (const change of accounts.toSorted((a, b) => byId(a.accountId, b.accountId))) {
    yield* ofAccount(sql, change, lastStatusAt)
  }
  for (const change of statuses.toSorted((a, b) => byId(a.statusId, b.statusId))) {
    yield* sql`UPDATE status_stats SET
        replies_count = replies_count + ${change.replies ?? 0},
        reblogs_count = reblogs_count + ${change.reblogs ?? 0},
        favourites_count = favourites_count + ${change.favourites ?? 0},
        stated_reblogs = stated_reblogs + ${change.reblogs ?? 0},
        stated_favourites = stated_favourites + ${change.favourites ?? 0}
      WHERE status_id = ${change.statusId}`
  }
})
