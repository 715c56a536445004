import { Schema } from "effect"
import type { SqlClient } from "effect/sql/SqlClient"
import type { Fragment } from "effect/sql/Statement"
import { rowsMax } from "../database/Paging.ts"
import { rowsOf } from "../database/Rows.ts"
import { visibleTo } from "../statuses/Visibility.ts"
import { isExcluded, isFollowed, isListed, isTagged } from "./FeedConditions.ts"

const newestRows = rowsOf(Schema.Struct({ id: Schema.BigInt, reblogOfId: Schema.NullOr(Schema.BigInt) }))

/** Maximum statuses of one author or hashtag that a page reads, whether or not they are shown. */
const readMax = 1_000

/** Range of a feed: ids between two others, newest first, or oldest first if `ascending`. */
export interface Range {
  readonly below?: bigint | undefined
  readonly above?: bigint | undefined
  readonly ascending?: boolean | undefined
  readonly limit: number
}

/** Candidate statuses for a feed. */
interface Statuses {
  /** FROM and WHERE of the statuses `c`, and the column of their ids. */
  readonly found: Fragment
  readonly id: string
  /** Joins in addition to a status `s` and its original `o`. */
  readonly joins?: Fragment
  /** Condition for statuses that are in the feed. */
  readonly belongs: Fragment
}

/** Candidates by source: `rows` with an id, such as follows, each with its statuses. */
interface Source extends Statuses {
  readonly rows: Fragment
  readonly alias: string
}

/**
 * Returns the first `limit` statuses of a feed in a range. Reads one status of each source first; only the sources
 * whose first status is within the page are read further. `own` are statuses that need no source.
 */
const newest = (
  sql: SqlClient,
  sources: ReadonlyArray<Source>,
  { above, ascending = false, below, limit }: Range,
  own?: Statuses
) => {
  const rows = rowsMax(sql, limit)
  const order = sql.literal(ascending ? "ASC" : "DESC")
  const statusesOf = ({ belongs, joins = sql``, found, ...of }: Statuses, most: Fragment, condition = sql``) => {
    const id = sql.literal(of.id)
    return sql`SELECT s.id, s.reblog_of_id FROM (
        SELECT c.* FROM ${found} AND c.deleted_at IS NULL
          ${below === undefined ? sql`` : sql`AND ${id} < ${below}`} ${
      above === undefined ? sql`` : sql`AND ${id} > ${above}`
    }
        ORDER BY ${id} ${order} LIMIT ${rowsMax(sql, readMax)}) s
      LEFT JOIN statuses o ON o.id = s.reblog_of_id ${joins}
      WHERE ${belongs} ${condition} ORDER BY s.id ${order} LIMIT ${most}`
  }
  const soonest = (column: string) =>
    sql`${sql.literal(column)} ${sql.literal(ascending ? "<=" : ">=")} (SELECT id FROM bound)`
  const union = (parts: ReadonlyArray<Fragment>, all: string) =>
    parts.reduce((left, right) => sql`${left} UNION ${sql.literal(all)} ${right}`)
  const heads = sources.map((source, at) => {
    const row = sql.literal(source.alias)
    return sql`SELECT ${sql.literal(String(at))} AS source, ${row}.id AS source_id, head.id FROM ${source.rows} ${row}
      CROSS JOIN LATERAL (${statusesOf(source, rowsMax(sql, 1))}) head`
  })
  const others = sources.map((source, at) => {
    const row = sql.literal(source.alias)
    return sql`SELECT found.* FROM heads JOIN ${source.rows} ${row} ON ${row}.id = heads.source_id
      CROSS JOIN LATERAL (${statusesOf(source, rows, sql`AND ${soonest("s.id")}`)}) found
      WHERE heads.source = ${sql.literal(String(at))} AND ${soonest("heads.id")}`
  })
  const ownRows = own === undefined ? [] : [sql`SELECT own.* FROM (${statusesOf(own, rows)}) own`]
  // UNION removes duplicates from several sources.
  return newestRows(sql`
    WITH heads AS MATERIALIZED (${union(heads, "ALL")}),
    bound AS MATERIALIZED (
      SELECT CASE WHEN count(*) < ${rows} THEN ${ascending ? 9_223_372_036_854_775_807n : 0n}::bigint
        ELSE ${ascending ? sql`max(id)` : sql`min(id)`} END AS id
      FROM (SELECT DISTINCT id FROM heads ORDER BY id ${order} LIMIT ${rows}) first)
    SELECT id, reblog_of_id FROM (${union([...ownRows, ...others], "")}) feed ORDER BY id ${order} LIMIT ${rows}`)
}

const byAuthor = (sql: SqlClient, author: Fragment) => ({
  found: sql`statuses c WHERE c.account_id = ${author}`,
  id: "c.id"
})
const byTag = (sql: SqlClient, tag: string) => ({
  found: sql`statuses_tags word JOIN statuses c ON c.id = word.status_id WHERE word.tag_id = ${sql.literal(tag)}`,
  id: "word.status_id"
})

/** Returns a reader's home: own statuses, those of followed accounts, and those with followed hashtags. */
export const ofHome = (sql: SqlClient, reader: bigint, range: Range, now: Date) => {
  const self = sql`${reader}::bigint`
  return newest(
    sql,
    [
      {
        rows: sql`(SELECT * FROM follows WHERE account_id = ${reader})`,
        alias: "f",
        ...byAuthor(sql, sql.literal("f.target_account_id")),
        belongs: sql`${isFollowed(sql, now)} AND NOT ${isExcluded(sql, self)}`
      },
      {
        rows: sql`(SELECT * FROM tag_follows WHERE account_id = ${reader})`,
        alias: "t",
        ...byTag(sql, "t.tag_id"),
        belongs: isTagged(sql, self, now)
      }
    ],
    range,
    { ...byAuthor(sql, self), belongs: sql`NOT s.imported AND ${visibleTo(sql, reader, "s")}` }
  )
}

/** Returns a list: statuses of its members, and with hashtags that are members. */
export const ofList = (sql: SqlClient, list: bigint, range: Range, now: Date) => {
  const joins = sql`CROSS JOIN (SELECT * FROM lists WHERE id = ${list}) l
    LEFT JOIN follows f ON f.account_id = l.account_id AND f.target_account_id = s.account_id`
  const members = (table: string) => sql`(SELECT * FROM ${sql.literal(table)} WHERE list_id = ${list})`
  const listed = { joins, belongs: isListed(sql, now) }
  return newest(sql, [
    { rows: members("list_accounts"), alias: "m", ...byAuthor(sql, sql.literal("m.account_id")), ...listed },
    { rows: members("list_tags"), alias: "m", ...byTag(sql, "m.tag_id"), ...listed }
  ], range)
}
