import { Effect } from "effect"
import type { SqlClient } from "effect/sql/SqlClient"
import { type Decay, maxScoreMillis, type Score } from "./TrendScores.ts"
import { trendsMax } from "./TrendWindow.ts"

/** Maximum stored scores of one kind, trending or not. */
const scoresMax = 5_000

/**
 * Replaces the stored scores of hashtags or cards; returns the ids that trend. Others are kept as long as their maximum
 * score counts.
 */
export const keepScores = Effect.fnUntraced(function*(
  sql: SqlClient,
  kind: "tag" | "card",
  scores: ReadonlyArray<Score>,
  { scoreMin }: Decay,
  now: number
) {
  const [table, key] = [sql.literal(`${kind}_trends`), sql.literal(`${kind}_id`)]
  const best = scores.filter(({ maxScore, maxScoreAt }) => maxScore > 0 && now - maxScoreAt < maxScoreMillis)
    .toSorted((a, b) => b.score - a.score || (a.id < b.id ? 1 : -1)).slice(0, scoresMax)
    // Only the best ones may trend, whatever the score of the others.
    .map(({ id, maxScore, maxScoreAt, score }, place) => ({
      id,
      maxScore,
      maxScoreAt,
      score: place < trendsMax ? score : 0
    }))
  yield* sql`DELETE FROM ${table} WHERE ${key} <> ALL (${best.map(({ id }) => id)}::bigint[])`
  if (best.length === 0) return []
  // The only concurrent write is the deletion of a hashtag or card.
  yield* sql`INSERT INTO ${table} (${key}, score, max_score, max_score_at)
    SELECT * FROM unnest(${best.map(({ id }) => id)}::bigint[], ${
    best.map(({ score }) => String(score))
  }::text[]::float8[],
      ${best.map(({ maxScore }) => String(maxScore))}::text[]::float8[],
      ${best.map(({ maxScoreAt }) => new Date(maxScoreAt))}::timestamptz[]) AS k (id, score, max_score, max_score_at)
    WHERE EXISTS (SELECT FROM ${sql.literal(kind === "tag" ? "tags" : "preview_cards")} t WHERE t.id = k.id)
    ON CONFLICT (${key}) DO UPDATE SET score = excluded.score, max_score = excluded.max_score,
      max_score_at = excluded.max_score_at`
  return best.flatMap(({ id, score }) => score >= scoreMin ? [id] : [])
})
