import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql/SqlClient"
import { idAt } from "../database/Ids.ts"
import { rowsMax } from "../database/Paging.ts"
import { rowsOf, Timestamptz } from "../database/Rows.ts"
import type { Turn } from "../intents/Chores.ts"
import { isUnrestricted, mayTrend } from "./Eligible.ts"
import { accountsMin, decayed, scoreOf, statusDecay } from "./TrendScores.ts"
import { candidatesMax, trendsMax, usedSince } from "./TrendWindow.ts"

/** Maximum counted favourites and boosts of a status, each. */
const marksMax = 2_000
/** Maximum age of a trending status, in milliseconds: older ones have decayed below the minimum score. */
const ageMillisMax = 86_400_000

const likedRows = rowsOf(
  Schema.Struct({ id: Schema.BigInt, accountId: Schema.BigInt, createdAt: Timestamptz, accounts: Schema.Int })
)

/**
 * Computes trending statuses from known favourites and boosts: by the number of different accounts, not by the counts
 * that other servers state. Only the best status of each author trends.
 */
export const refreshStatuses = (sql: SqlClient) =>
  Effect.fnUntraced(function*(turn: Turn) {
    const { now } = turn
    const most = rowsMax(sql, marksMax)
    const since = usedSince(turn)
    const rows = yield* likedRows(sql`
      WITH touched AS MATERIALIZED (
        (SELECT status_id FROM favourites WHERE id > ${since}
          UNION SELECT reblog_of_id FROM statuses WHERE id > ${since} AND reblog_of_id IS NOT NULL AND deleted_at IS NULL
          LIMIT ${rowsMax(sql, candidatesMax)}) UNION SELECT status_id FROM status_trends)
      SELECT s.id, s.account_id, s.created_at, liked.accounts FROM touched t
      JOIN statuses s ON s.id = t.status_id AND s.id > ${idAt(now - ageMillisMax)} AND s.created_at <= ${new Date(now)}
      LEFT JOIN status_reviews r ON r.status_id = s.id LEFT JOIN status_stats n ON n.status_id = s.id
      CROSS JOIN LATERAL (SELECT count(*)::int AS accounts FROM (
        (SELECT f.account_id FROM favourites f WHERE f.status_id = s.id LIMIT ${most})
        UNION (SELECT b.account_id FROM statuses b WHERE b.reblog_of_id = s.id AND b.deleted_at IS NULL LIMIT ${most})) who
        WHERE who.account_id <> s.account_id AND ${isUnrestricted(sql, "who.account_id")}) liked
      WHERE n.favourites_count + n.reblogs_count >= ${accountsMin} AND liked.accounts >= ${accountsMin}
        AND r.trendable IS DISTINCT FROM false AND ${mayTrend(sql, "s")}`)
    const byAuthor = new Map<bigint, { readonly id: bigint; readonly score: number }>()
    for (const { accountId, accounts, createdAt, id } of rows) {
      const score = decayed(statusDecay, scoreOf(accounts, 1), createdAt.getTime(), now)
      if (score >= statusDecay.scoreMin && score > (byAuthor.get(accountId)?.score ?? 0)) {
        byAuthor.set(accountId, { id, score })
      }
    }
    const best = [...byAuthor.values()].toSorted((a, b) => b.score - a.score).slice(0, trendsMax)
    yield* sql`DELETE FROM status_trends WHERE status_id <> ALL (${best.map(({ id }) => id)}::bigint[])`
    if (best.length === 0) return
    yield* sql`INSERT INTO status_trends (status_id, score)
      SELECT k.* FROM unnest(${best.map(({ id }) => id)}::bigint[], ${
      best.map(({ score }) => String(score))
    }::text[]::float8[]) AS k (id, score)
      WHERE EXISTS (SELECT FROM statuses s WHERE s.id = k.id)
      ON CONFLICT (status_id) DO UPDATE SET score = excluded.score`
    yield* sql`UPDATE accounts SET requested_review_at = ${new Date(now)} WHERE requested_review_at IS NULL
      AND trendable IS NULL AND id IN (SELECT account_id FROM statuses WHERE id = ANY (${
      best.map(({ id }) => id)
    }::bigint[]))`
  })
