import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Conflict } from "../../services/Errors.ts"
import type { AccountId } from "../../services/Ids.ts"

/** Changes of a profile are counted up to here, and from 0 again. */
const changesMax = 1_000_000_000

/**
 * What a remote account shows on its profile comes in two ways: it tells of each change, and its collections are read. Which of two
 * is newer is known by a count of what it told; inside a transaction of the account's actor.
 */
export const make = Effect.map(SqlClient.SqlClient, (sql) => ({
  /** The account told of a change. */
  changed: (accountId: AccountId) =>
    sql`UPDATE remote_actors SET featured_changes = (featured_changes + 1) % ${changesMax} WHERE account_id = ${accountId}`,
  /** Fails where it did so since there had been so many. */
  unchanged: Effect.fnUntraced(function*(accountId: AccountId, changes: number) {
    const [row] =
      yield* sql`SELECT FROM remote_actors WHERE account_id = ${accountId} AND featured_changes = ${changes}`
    if (row === undefined) return yield* new Conflict()
  })
}))
