import type { SqlClient } from "effect/sql/SqlClient"
import type { Fragment } from "effect/sql/Statement"
import { rowsMax } from "../database/Paging.ts"
import { visibleTo } from "../statuses/Visibility.ts"
import { isExcluded, isFollowed, isListed, isTagged, mentionedIn } from "./FeedConditions.ts"

/** Condition: the account was seen since then, so it has a feed. */
const isActiveSince = (sql: SqlClient, account: Fragment, since: Date): Fragment =>
  sql`EXISTS (SELECT FROM users u WHERE u.account_id = ${account} AND u.last_seen_at > ${since} OFFSET 0)`

/**
 * Returns a slice of a status's readers: the author's follows with ids above `cursor`, `limit` at most. Arguments are
 * ids or SQL expressions. A row with a null `reader` only advances the cursor. Only readers seen since `seenSince` have
 * a feed.
 */
export const readers = (
  sql: SqlClient,
  status: bigint | Fragment,
  author: bigint | Fragment,
  slice: {
    readonly cursor: bigint | Fragment
    readonly limit: number
    readonly seenSince: Date
  },
  now: Date
) => {
  const visibility = sql`(SELECT visibility FROM statuses WHERE id = ${status})`
  const some = (where: Fragment) =>
    sql`(SELECT * FROM follows WHERE target_account_id = ${author} AND id > ${slice.cursor} AND ${where}
      ORDER BY id LIMIT ${rowsMax(sql, slice.limit)})`
  // For a direct post, only mentioned followers are read, however many follow the author.
  return sql`
    SELECT f.id AS follow_id, f.notify,
      CASE WHEN ${isActiveSince(sql, sql.literal("f.account_id"), slice.seenSince)}
        AND ${isFollowed(sql, now, sql.literal("named.ids"))} THEN f.account_id END AS reader
    FROM (${some(sql`${visibility} <> 'direct'`)} UNION ALL ${
    some(sql`${visibility} = 'direct' AND account_id IN (SELECT account_id FROM mentions WHERE status_id = ${status})`)
  }) f
    JOIN statuses s ON s.id = ${status}
    LEFT JOIN statuses o ON o.id = s.reblog_of_id
    CROSS JOIN LATERAL (SELECT ${mentionedIn(sql)} AS ids OFFSET 0) named
    ORDER BY f.id`
}

/** Returns the readers whose home leaves the status to an exclusive list. */
export const excluding = (sql: SqlClient, status: bigint, readers: ReadonlyArray<bigint>) =>
  sql`SELECT r.account_id FROM unnest(${readers}::bigint[]) AS r (account_id) JOIN statuses s ON s.id = ${status}
    WHERE ${isExcluded(sql, sql.literal("r.account_id"))}`

/** Selects subscriptions of a status; ids or SQL expressions. */
interface Subscribed {
  readonly status: bigint | Fragment
  readonly author: bigint | Fragment
  readonly cursor: bigint | Fragment
  readonly limit: number
}

/**
 * Returns a slice of a status's subscriptions with ids above `cursor`: lists with its author or one of its hashtags,
 * and followers of such a hashtag, as `n`. Each list and each follower counts once, with the first subscription.
 * `takes` are conditions over the list `l`, or the follower `n.account_id`, and its follow `f` of the author, if any.
 */
const subscriptions = (
  sql: SqlClient,
  { author, cursor, limit, status }: Subscribed,
  takes: { readonly list: Fragment; readonly follower: Fragment }
) => {
  const rows = rowsMax(sql, limit)
  const words = (table: string) =>
    sql`statuses_tags word JOIN ${sql.literal(table)} m ON m.tag_id = word.tag_id WHERE word.status_id = ${status}`
  const some = (columns: string, from: Fragment) =>
    sql`(SELECT m.id, ${sql.literal(columns)} FROM ${from} AND m.id > ${cursor} ORDER BY m.id LIMIT ${rows})`
  return sql`
    SELECT n.id,
      CASE WHEN n.list_id IS NOT NULL AND NOT EXISTS (SELECT FROM list_accounts m WHERE m.list_id = n.list_id
          AND m.account_id = s.account_id AND m.id < n.id OFFSET 0)
        AND NOT EXISTS (SELECT FROM ${words("list_tags")} AND m.list_id = n.list_id AND m.id < n.id OFFSET 0)
        AND ${takes.list} THEN n.list_id END AS list_id,
      CASE WHEN n.account_id IS NOT NULL
        AND NOT EXISTS (SELECT FROM ${words("tag_follows")} AND m.account_id = n.account_id AND m.id < n.id OFFSET 0)
        AND ${takes.follower} THEN n.account_id END AS reader
    FROM (SELECT * FROM (
        ${some("m.list_id, NULL::bigint AS account_id", sql`list_accounts m WHERE m.account_id = ${author}`)}
        UNION ALL ${some("m.list_id, NULL", words("list_tags"))}
        UNION ALL ${some("NULL, m.account_id", words("tag_follows"))}) any_of
      ORDER BY id LIMIT ${rows}) n
    JOIN statuses s ON s.id = ${status}
    LEFT JOIN statuses o ON o.id = s.reblog_of_id
    LEFT JOIN lists l ON l.id = n.list_id
    LEFT JOIN follows f ON f.account_id = coalesce(l.account_id, n.account_id) AND f.target_account_id = s.account_id
    ORDER BY n.id`
}

/**
 * Returns the subscriptions whose feed shows the status; skips followers of its author whose follow already shows it.
 */
export const subscribers = (sql: SqlClient, of: Subscribed, seenSince: Date, now: Date) => {
  const follower = sql.literal("n.account_id")
  return subscriptions(sql, of, {
    list: sql`${isActiveSince(sql, sql.literal("l.account_id"), seenSince)} AND ${isListed(sql, now)}`,
    follower: sql`${isActiveSince(sql, follower, seenSince)} AND ${isTagged(sql, follower, now)}
      AND (f.id IS NULL OR NOT ${isFollowed(sql, now)})`
  })
}

/**
 * Returns the subscriptions whose owner could see a deleted status, to retract it; skips followers of its author, who
 * are handled separately.
 */
export const subscribed = (sql: SqlClient, of: Subscribed) => {
  const couldSee = (account: string) => visibleTo(sql, sql.literal(account), "s", { deletedToo: true })
  return subscriptions(sql, of, {
    list: couldSee("l.account_id"),
    follower: sql`f.id IS NULL AND ${couldSee("n.account_id")}`
  })
}
