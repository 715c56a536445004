import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { AccountId } from "../../../services/database/Ids.ts"
import { Conflict } from "../../../services/runtime/Errors.ts"

/** Upper bound of the change counter, which then wraps to 0. */
const changesMax = 1_000_000_000

/**
 * Counter of changes to a remote account's featured items. They come in two ways: the account announces changes, and
 * its collections are fetched. The counter tells whether a fetch is stale; inside a transaction of the account's actor.
 */
export const make = Effect.map(SqlClient.SqlClient, (sql) => ({
  /** Counts a change that the account announced. */
  changed: (accountId: AccountId) =>
    sql`UPDATE remote_actors SET featured_changes = (featured_changes + 1) % ${changesMax} WHERE account_id = ${accountId}`,
  /** Fails with `Conflict` if the account announced a change since the counter had this value. */
  unchanged: Effect.fnUntraced(function*(accountId: AccountId, changes: number) {
    const [row] =
      yield* sql`SELECT FROM remote_actors WHERE account_id = ${accountId} AND featured_changes = ${changes}`
    if (row === undefined) return yield* new Conflict()
  })
}))
