import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql/SqlClient"
import { rowsMax } from "../database/Paging.ts"
import { rowsOf, Timestamptz } from "../database/Rows.ts"
import type { Turn } from "../intents/Chores.ts"
import { keepScores } from "./TrendRows.ts"
import { accountsMin, currentScore, tagDecay } from "./TrendScores.ts"
import { candidatesMax, countedMax, dayOf, usedSince } from "./TrendWindow.ts"

const usedRows = rowsOf(Schema.Struct({
  id: Schema.BigInt,
  observed: Schema.Int,
  expected: Schema.Int,
  maxScore: Schema.NullOr(Schema.Number),
  maxScoreAt: Schema.NullOr(Timestamptz)
}))

/**
 * Computes trending hashtags from their recorded uses by day: today's accounts against yesterday's. Requests a staff
 * review of unreviewed ones, once.
 */
export const refreshTags = (sql: SqlClient, review: "on" | "off") =>
  Effect.fnUntraced(function*(turn: Turn) {
    const { now } = turn
    const accounts = (day: number) =>
      sql`(SELECT count(*)::int AS accounts FROM (SELECT FROM tag_days d WHERE d.tag_id = t.id AND d.uses > 0
        AND d.day = DATE '1970-01-01' + ${day}::int LIMIT ${rowsMax(sql, countedMax)}) used)`
    const today = dayOf(now)
    const rows = yield* usedRows(sql`
      WITH candidates AS MATERIALIZED (
        (SELECT DISTINCT tag_id FROM statuses_tags WHERE status_id > ${usedSince(turn)} LIMIT ${
      rowsMax(sql, candidatesMax)
    }) UNION SELECT tag_id FROM tag_trends)
      SELECT t.id, today.accounts AS observed, yesterday.accounts AS expected, r.max_score, r.max_score_at
      FROM candidates c JOIN tags t ON t.id = c.tag_id AND t.usable LEFT JOIN tag_trends r ON r.tag_id = t.id
      CROSS JOIN LATERAL ${accounts(today)} today CROSS JOIN LATERAL ${accounts(today - 1)} yesterday
      WHERE today.accounts >= ${accountsMin} OR r.tag_id IS NOT NULL`)
    const scores = rows.map((used) => currentScore(tagDecay, used, now))
    const trending = yield* keepScores(sql, "tag", scores, tagDecay, now)
    if (review === "off" || trending.length === 0) return
    yield* sql`UPDATE tags SET requested_review_at = ${new Date(now)} WHERE id = ANY (${trending}::bigint[])
      AND trendable IS NULL AND reviewed_at IS NULL AND requested_review_at IS NULL`
  })
