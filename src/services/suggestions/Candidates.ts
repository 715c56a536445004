import type { SqlClient } from "effect/sql/SqlClient"
import type { Fragment } from "effect/sql/Statement"
import { blocks, eitherBlocks, isHidden } from "../visibility/HiddenAccounts.ts"
import { presentAccount } from "../visibility/PresentAccounts.ts"
import type { Viewer } from "../visibility/Viewer.ts"

/** Condition: an account `a` may be recommended: visible to others, not limited or suspended, and not moved. */
const isPresentable = (sql: SqlClient): Fragment =>
  sql.literal(`a.suspended_at IS NULL AND a.silenced_at IS NULL AND a.moved_to_id IS NULL AND ${presentAccount("a")}`)

/** Condition: `account` may be suggested to `viewer` as new (S-156). */
export const isSuggestible = (sql: SqlClient, viewer: bigint, now: Date): Fragment => {
  const self = sql`${viewer}::bigint`
  const follows = (table: string) =>
    sql`EXISTS (SELECT FROM ${
      sql.literal(table)
    } f WHERE f.account_id = ${viewer} AND f.target_account_id = a.id OFFSET 0)`
  return sql.and([
    isPresentable(sql),
    sql`a.id <> ${viewer} AND NOT a.locked AND NOT a.memorial`,
    sql`NOT ${follows("follows")} AND NOT ${follows("follow_requests")}`,
    sql`NOT ${isHidden(sql, self, sql`a.id`, now)} AND NOT ${blocks(sql, sql`a.id`, self)}`,
    sql`NOT EXISTS (SELECT FROM dismissed_suggestions d
      WHERE d.account_id = ${viewer} AND d.target_account_id = a.id AND d.for_good OFFSET 0)`
  ])
}

/** Condition: the directory shows an account `a` to the viewer. */
export const isListed = (sql: SqlClient, viewer: Viewer, now: Date): Fragment => {
  const self = sql`${viewer ?? null}::bigint`
  return sql.and([
    sql`a.discoverable`,
    isPresentable(sql),
    ...(viewer === undefined
      ? []
      : [sql`NOT ${isHidden(sql, self, sql`a.id`, now)} AND NOT ${eitherBlocks(sql, self, sql`a.id`)}`])
  ])
}
