import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql/SqlClient"
import { idAt } from "../database/Ids.ts"
import { rowsMax } from "../database/Paging.ts"
import { rowsOf, Timestamptz } from "../database/Rows.ts"
import type { Turn } from "../intents/Chores.ts"
import { linkCounts } from "./Eligible.ts"
import { keepScores } from "./TrendRows.ts"
import { currentScore, linkDecay } from "./TrendScores.ts"
import { candidatesMax, countedMax, dayOf, startOf, usedSince } from "./TrendWindow.ts"

/** Maximum posts with one link whose boosts are counted, and maximum age of the posts in days. */
const boostedMax = 1_000
const boostedDaysMax = 7

const usedRows = rowsOf(Schema.Struct({
  id: Schema.BigInt,
  day: Schema.Int,
  uses: Schema.Int,
  accounts: Schema.Int,
  maxScore: Schema.NullOr(Schema.Number),
  maxScoreAt: Schema.NullOr(Timestamptz)
}))

/** Condition: a card has enough data to be shown on its own. */
const isPresentable = `c.details->>'type' = 'link' AND c.details->>'title' <> '' AND c.details->>'description' <> ''
  AND c.details->>'providerName' <> '' AND c.image_name IS NOT NULL`

/**
 * Computes trending links from the posts and boosts that contain them: today's accounts against yesterday's. Stores the
 * counts by day, for the displayed history.
 */
export const refreshLinks = (sql: SqlClient) =>
  Effect.fnUntraced(function*(turn: Turn) {
    const { now } = turn
    const [today, since] = [dayOf(now), usedSince(turn)]
    const [yesterdayAt, week] = [idAt(startOf(today - 1)), idAt(startOf(today - boostedDaysMax))]
    const most = rowsMax(sql, countedMax)
    const day = (alias: string) => sql.literal(`((${alias}.created_at AT TIME ZONE 'UTC')::date - DATE '1970-01-01')`)
    const rows = yield* usedRows(sql`
      WITH candidates AS MATERIALIZED (
        (SELECT card_id FROM status_cards WHERE status_id > ${since}
          UNION SELECT l.card_id FROM statuses b JOIN status_cards l ON l.status_id = b.reblog_of_id
            WHERE b.id > ${since} AND b.reblog_of_id IS NOT NULL AND b.deleted_at IS NULL
          LIMIT ${rowsMax(sql, candidatesMax)}) UNION SELECT card_id FROM card_trends)
      SELECT c.id, d.day, coalesce(used.uses, 0)::int AS uses, coalesce(used.accounts, 0)::int AS accounts,
        r.max_score, r.max_score_at
      FROM candidates k JOIN preview_cards c ON c.id = k.card_id AND ${sql.literal(isPresentable)}
      LEFT JOIN card_trends r ON r.card_id = c.id
      CROSS JOIN unnest(ARRAY[${today}, ${today - 1}]::int[]) d (day)
      LEFT JOIN LATERAL (SELECT u.day, count(*) AS uses, count(DISTINCT u.account_id) AS accounts FROM (
          (SELECT s.account_id, ${day("s")} AS day FROM status_cards l JOIN statuses s ON s.id = l.status_id
            WHERE l.card_id = c.id AND l.status_id > ${yesterdayAt} AND ${linkCounts(sql, "s")} LIMIT ${most})
          UNION ALL (SELECT b.account_id, ${day("b")} FROM (
              SELECT status_id FROM status_cards WHERE card_id = c.id AND status_id > ${week}
              ORDER BY status_id DESC LIMIT ${rowsMax(sql, boostedMax)}) l
            JOIN statuses s ON s.id = l.status_id AND ${linkCounts(sql, "s")}
            JOIN statuses b ON b.reblog_of_id = s.id AND b.id > ${yesterdayAt} AND ${linkCounts(sql, "b")}
            LIMIT ${most})) u GROUP BY u.day) used ON used.day = d.day`)
    yield* keepDays(sql, rows)
    const expected = new Map(rows.flatMap(({ accounts, day, id }) => day === today ? [] : [[id, accounts]]))
    const scores = rows.filter(({ day }) => day === today).map(({ accounts: observed, id, maxScore, maxScoreAt }) =>
      currentScore(linkDecay, { id, observed, expected: expected.get(id) ?? 0, maxScore, maxScoreAt }, now)
    )
    const trending = yield* keepScores(sql, "card", scores, linkDecay, now)
    if (trending.length === 0) return
    yield* sql`INSERT INTO preview_card_providers (id, site, requested_review_at)
      SELECT next_id(${now}), p.site, ${new Date(now)} FROM (
        SELECT DISTINCT site FROM preview_cards WHERE id = ANY (${trending}::bigint[]) ORDER BY site) p
      ON CONFLICT (site) DO NOTHING`
  })

const keepDays = (
  sql: SqlClient,
  days: ReadonlyArray<{ readonly id: bigint; readonly day: number; readonly uses: number; readonly accounts: number }>
) => {
  const counted = days.filter(({ uses }) => uses > 0)
  return counted.length === 0 ? Effect.void : sql`INSERT INTO card_days (card_id, day, uses, accounts)
    SELECT k.id, DATE '1970-01-01' + k.day, k.uses, k.accounts FROM unnest(${counted.map(({ id }) => id)}::bigint[],
      ${counted.map(({ day }) => day)}::int[], ${counted.map(({ uses }) => uses)}::int[],
      ${counted.map(({ accounts }) => accounts)}::int[]) AS k (id, day, uses, accounts)
    ON CONFLICT (card_id, day) DO UPDATE SET uses = excluded.uses, accounts = excluded.accounts`
}
