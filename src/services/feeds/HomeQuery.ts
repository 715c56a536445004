import { Schema } from "effect"
import type { SqlClient } from "effect/sql/SqlClient"
import type { Fragment } from "effect/sql/Statement"
import { isHidden } from "../HiddenAccounts.ts"
import { rowsMax } from "../Paging.ts"
import { rowsOf } from "../Rows.ts"
import { visibleTo } from "../statuses/Visibility.ts"

const newestRows = rowsOf(Schema.Struct({ id: Schema.BigInt, reblogOfId: Schema.NullOr(Schema.BigInt) }))

/** Statuses of one author that a page of somebody's home looks at, whether or not they belong there. */
const authorStatusesMax = 1_000

/**
 * Which statuses of others belong into an account's home, decided here for both directions: the newest for one reader,
 * and the readers of one status. Over a follow `f` (reader `f.account_id`, author `f.target_account_id`), a status `s`
 * of that author and `o`, the original where `s` is a reblog (LEFT JOIN). As Mastodon's home feed: replies to accounts
 * that the reader does not follow stay out, unless to the author or the reader; reblogs and languages as the follow
 * says; blocked and muted accounts stay out as author, as reblogged and as mentioned.
 */
const accepts = (sql: SqlClient, now: Date): Fragment => {
  const reader = sql.literal("f.account_id")
  const welcome = (account: string) => sql`NOT ${isHidden(sql, reader, sql.literal(account), now)}`
  return sql`(${visibleTo(sql, reader, "s")}
    AND (s.in_reply_to_id IS NULL OR s.in_reply_to_account_id IN (s.account_id, f.account_id) OR EXISTS (
      SELECT FROM follows answered WHERE answered.account_id = f.account_id
        AND answered.target_account_id = s.in_reply_to_account_id OFFSET 0))
    AND (f.languages IS NULL OR coalesce(o.language, s.language) IS NULL
      OR coalesce(o.language, s.language) = ANY (f.languages))
    AND (s.reblog_of_id IS NULL OR (f.show_reblogs AND ${welcome("o.account_id")}))
    AND ${welcome("s.account_id")}
    AND NOT EXISTS (SELECT FROM mentions named WHERE named.status_id IN (s.id, o.id)
      AND named.account_id <> f.account_id AND ${
    isHidden(sql, reader, sql.literal("named.account_id"), now)
  } OFFSET 0))`
}

/** A part of a home: ids between two others, the newest first, or from the oldest upwards (`ascending`). */
export interface Range {
  readonly below?: bigint | undefined
  readonly above?: bigint | undefined
  readonly ascending?: boolean | undefined
  readonly limit: number
}

/**
 * The first `limit` statuses of one reader's home in a range: its own, and what it follows. Only the authors whose first
 * status comes soonest can have a part in the page, so the rest are asked for one status each.
 */
export const newest = (
  sql: SqlClient,
  reader: bigint,
  { above, ascending = false, below, limit }: Range,
  now: Date
) => {
  const rows = rowsMax(sql, limit)
  const order = sql.literal(ascending ? "ASC" : "DESC")
  const statusesOf = (author: Fragment, most: Fragment, condition: Fragment) =>
    sql`SELECT s.id, s.reblog_of_id FROM (
        SELECT c.* FROM statuses c WHERE c.account_id = ${author} AND c.deleted_at IS NULL
          ${below === undefined ? sql`` : sql`AND c.id < ${below}`} ${
      above === undefined ? sql`` : sql`AND c.id > ${above}`
    }
        ORDER BY c.id ${order} LIMIT ${rowsMax(sql, authorStatusesMax)}) s
      LEFT JOIN statuses o ON o.id = s.reblog_of_id
      WHERE ${condition} ORDER BY s.id ${order} LIMIT ${most}`
  const soonest = sql.literal(ascending ? "s.id <= (SELECT id FROM bound)" : "s.id >= (SELECT id FROM bound)")
  return newestRows(sql`
    WITH heads AS MATERIALIZED (
      SELECT f.id AS follow_id, head.id FROM follows f
      CROSS JOIN LATERAL (${statusesOf(sql.literal("f.target_account_id"), rowsMax(sql, 1), accepts(sql, now))}) head
      WHERE f.account_id = ${reader} ORDER BY head.id ${order} LIMIT ${rows}),
    bound AS MATERIALIZED (
      SELECT CASE WHEN count(*) < ${rows} THEN ${ascending ? 9_223_372_036_854_775_807n : 0n}::bigint
        ELSE ${ascending ? sql`max(id)` : sql`min(id)`} END AS id FROM heads)
    SELECT id, reblog_of_id FROM (
      SELECT own.* FROM (${statusesOf(sql`${reader}::bigint`, rows, visibleTo(sql, reader, "s"))}) own
      UNION ALL
      SELECT others.* FROM heads JOIN follows f ON f.id = heads.follow_id
      CROSS JOIN LATERAL (${
    statusesOf(sql.literal("f.target_account_id"), rows, sql`${soonest} AND ${accepts(sql, now)}`)
  }) others
    ) home ORDER BY id ${order} LIMIT ${rows}`)
}

/**
 * One slice of a status' readers: the author's follows with ids above `cursor`, `limit` at most; ids or SQL expressions of them. A row with
 * `reader` null counts for the cursor only. Only readers seen since `seenSince` have a feed to write into.
 */
export const readers = (
  sql: SqlClient,
  status: bigint | Fragment,
  author: bigint | Fragment,
  slice: {
    readonly cursor: bigint | Fragment
    readonly limit: number
    readonly seenSince: Date
    /** Of a direct post only the mentioned are asked, however many follow its author; without this nobody. */
    readonly mentionedOnly: boolean
  },
  now: Date
) =>
  sql`
    SELECT f.id AS follow_id, f.notify,
      CASE WHEN EXISTS (SELECT FROM users u WHERE u.account_id = f.account_id AND u.last_seen_at > ${slice.seenSince} OFFSET 0)
        AND ${accepts(sql, now)} THEN f.account_id END AS reader
    FROM (SELECT * FROM follows WHERE target_account_id = ${author} AND id > ${slice.cursor}
      AND ${
    slice.mentionedOnly
      ? sql`account_id IN (SELECT account_id FROM mentions WHERE status_id = ${status})`
      : sql`(SELECT visibility FROM statuses WHERE id = ${status}) <> 'direct'`
  }
      ORDER BY id LIMIT ${rowsMax(sql, slice.limit)}) f
    JOIN statuses s ON s.id = ${status}
    LEFT JOIN statuses o ON o.id = s.reblog_of_id
    ORDER BY f.id`
