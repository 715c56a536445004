import { Effect, Schema, Struct } from "effect"
import type { SqlClient } from "effect/sql/SqlClient"
import { idAt } from "../database/Ids.ts"
import { rowsOf } from "../database/Rows.ts"
import { boundsOf } from "../runtime/Moments.ts"
import { ReportData } from "./AnnualReport.ts"

/** Maximum entries of each top list. */
const topsMax = 5
/** Minimum posts of an account that is not a lurker. */
const activeStatusesMin = 10

const Figures = Schema.Struct({ ...Struct.omit(ReportData.fields, ["archetype"]), polls: Schema.Int })
const figureRows = rowsOf(Figures)

/** Computes an account's annual report, by one statement over its own statuses of that year; undefined without any. */
export const reportOf = Effect.fnUntraced(function*(sql: SqlClient, account: bigint, year: number) {
  const [first, last] = boundsOf({ year }, "UTC")
  const [from, to] = [new Date(first), new Date(last)]
  const top = (figure: string) =>
    sql.literal(`(SELECT o.id::text FROM own o JOIN status_stats c ON c.status_id = o.id
      WHERE o.reblog_of_id IS NULL AND ${figureIsOpen} AND c.${figure} > 0 ORDER BY c.${figure} DESC, o.id DESC LIMIT 1)`)
  const months = (table: string, column: string) =>
    sql`(SELECT count(*)::int FROM ${sql.literal(table)} f WHERE f.${sql.literal(column)} = ${account}
      AND f.created_at >= m.begins AND f.created_at < m.begins + interval '1 month')`
  const tops = sql.literal(String(topsMax))
  const [row] = yield* figureRows(sql`
    WITH own AS MATERIALIZED (SELECT s.id, s.reblog_of_id, s.in_reply_to_id, s.in_reply_to_account_id, s.application_id,
        s.visibility, s.local_only, s.created_at FROM statuses s
      WHERE s.account_id = ${account} AND s.deleted_at IS NULL AND s.id >= ${idAt(first)} AND s.id < ${idAt(last)})
    SELECT json_build_object('total', count(*)::int, 'reblogs', count(reblog_of_id)::int,
        'replies', (count(*) FILTER (WHERE reblog_of_id IS NULL AND in_reply_to_account_id <> ${account}))::int,
        'standalone', (count(*) FILTER (WHERE reblog_of_id IS NULL AND in_reply_to_id IS NULL))::int) AS type_distribution,
      (SELECT count(*)::int FROM own o JOIN polls p ON p.status_id = o.id) AS polls,
      json_build_object('byReblogs', ${top("reblogs_count")}, 'byFavourites', ${top("favourites_count")},
        'byReplies', ${top("replies_count")}) AS top_statuses,
      (SELECT coalesce(json_agg(o), '[]') FROM (SELECT a.name, count(*)::int AS count FROM own o
        JOIN oauth_apps a ON a.id = o.application_id GROUP BY a.name ORDER BY 2 DESC, 1 LIMIT ${tops}) o) AS most_used_apps,
      (SELECT coalesce(json_agg(o), '[]') FROM (SELECT t.display_name AS name, count(*)::int AS count FROM own o
        JOIN statuses_tags st ON st.status_id = o.id JOIN tags t ON t.id = st.tag_id
        WHERE o.reblog_of_id IS NULL AND ${
    sql.literal(figureIsOpen)
  } GROUP BY t.display_name ORDER BY 2 DESC, 1 LIMIT ${tops}) o) AS top_hashtags,
      (SELECT coalesce(json_agg(o), '[]') FROM (SELECT r.account_id::text AS "accountId", count(*)::int AS count FROM own o
        JOIN statuses r ON r.id = o.reblog_of_id GROUP BY r.account_id ORDER BY 2 DESC, 1 LIMIT ${tops}) o)
        AS most_reblogged_accounts,
      (SELECT coalesce(json_agg(o), '[]') FROM (SELECT in_reply_to_account_id::text AS "accountId", count(*)::int AS count
        FROM own WHERE reblog_of_id IS NULL AND in_reply_to_account_id <> ${account}
        GROUP BY in_reply_to_account_id ORDER BY 2 DESC, 1 LIMIT ${tops}) o) AS commonly_interacted_with_accounts,
      (SELECT json_agg(json_build_object('month', extract(month FROM m.begins AT TIME ZONE 'UTC')::int,
          'statuses', (SELECT count(*)::int FROM own o WHERE o.created_at >= m.begins
            AND o.created_at < m.begins + interval '1 month'),
          'following', ${months("follows", "account_id")}, 'followers', ${months("follows", "target_account_id")})
          ORDER BY m.begins)
        FROM generate_series(${from}::timestamptz, ${to}::timestamptz - interval '1 day', interval '1 month') m (begins))
        AS time_series
    FROM own`)
  if (row === undefined || row.typeDistribution.total === 0) return undefined
  const { polls, ...figures } = row
  return { ...figures, archetype: archetypeOf(figures.typeDistribution, polls) } satisfies ReportData
})

const figureIsOpen = "o.visibility IN ('public', 'unlisted') AND NOT o.local_only"

/** Returns the account's archetype. */
const archetypeOf = (
  { reblogs, replies, standalone, total }: ReportData["typeDistribution"],
  polls: number
): ReportData["archetype"] => {
  if (total < activeStatusesMin) return "lurker"
  if (reblogs > standalone * 2) return "booster"
  if (polls > standalone * 0.1) return "pollster"
  return replies > standalone * 2 ? "replier" : "oracle"
}
