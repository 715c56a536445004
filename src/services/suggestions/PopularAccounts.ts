import { Effect } from "effect"
import type { SqlClient } from "effect/sql/SqlClient"
import { idAt } from "../database/Ids.ts"
import { rowsMax } from "../database/Paging.ts"
import type { Turn } from "../intents/Chores.ts"

/** Period between computations of popular accounts, and time span that they consider, in milliseconds. */
export const popularMillis = 3_600_000
const windowMillis = 30 * 86_400_000
/** Maximum follows, favourites and boosts that are read, newest first. */
const rowsReadMax = 100_000
/** Minimum local accounts that must like an account, and maximum accounts kept for each source. */
const likingAccountsMin = 5
const keptMax = 100

/**
 * Computes the accounts that many local accounts recently followed, and those whose posts many local accounts liked.
 */
export const refreshPopular = (sql: SqlClient) =>
  Effect.fnUntraced(function*({ now }: Turn) {
    const since = idAt(now - windowMillis)
    const most = rowsMax(sql, rowsReadMax)
    const keep = (source: string, liked: ReturnType<typeof sql.literal>) =>
      sql`INSERT INTO popular_accounts (source, account_id, place)
        SELECT ${source}, a.id, row_number() OVER (ORDER BY count(DISTINCT liked.by) DESC, a.id DESC)
        FROM ${liked} liked JOIN accounts me ON me.id = liked.by AND me.domain IS NULL AND me.suspended_at IS NULL
        JOIN accounts a ON a.id = liked.target AND a.discoverable AND a.silenced_at IS NULL AND a.suspended_at IS NULL
        WHERE liked.by <> liked.target GROUP BY a.id HAVING count(DISTINCT liked.by) >= ${likingAccountsMin}
        ORDER BY count(DISTINCT liked.by) DESC, a.id DESC LIMIT ${rowsMax(sql, keptMax)}`
    yield* sql`DELETE FROM popular_accounts`
    yield* keep(
      "most_followed",
      sql`(SELECT account_id AS by, target_account_id AS target FROM follows WHERE id > ${since} ORDER BY id DESC LIMIT ${most})`
    )
    yield* keep(
      "most_interactions",
      sql`(SELECT m.by, s.account_id AS target FROM (
          (SELECT account_id AS by, status_id FROM favourites WHERE id > ${since} ORDER BY id DESC LIMIT ${most})
          UNION ALL (SELECT account_id, reblog_of_id FROM statuses
            WHERE id > ${since} AND reblog_of_id IS NOT NULL AND deleted_at IS NULL ORDER BY id DESC LIMIT ${most})) m
        JOIN statuses s ON s.id = m.status_id)`
    )
  })
