import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql/SqlClient"
import type { AccountId } from "../database/Ids.ts"
import { clauses, newestFirst, type Page } from "../database/Paging.ts"
import { rowsOf } from "../database/Rows.ts"
import { visibleTo } from "./Visibility.ts"

/** Row of a list of statuses; `cursor` is the id of the mark, by which the list is paged. */
export const MarkedStatus = Schema.Struct({ cursor: Schema.BigInt, statusId: Schema.BigInt })
export type MarkedStatus = typeof MarkedStatus.Type
const markedRows = rowsOf(MarkedStatus)

/** Returns a function that pages an account's bookmarks or favourites that it may still see. */
export const make = (sql: SqlClient, table: "bookmarks" | "favourites") =>
  Effect.fnUntraced(function*(account: AccountId, page: Page) {
    if (page.limit === 0) return []
    const { tail, where } = clauses(sql, "r.id", page)
    const rows = yield* markedRows(sql`
      SELECT r.id AS cursor, r.status_id FROM ${sql.literal(table)} r JOIN statuses s ON s.id = r.status_id
      WHERE r.account_id = ${account} AND ${where} AND ${visibleTo(sql, account, "s")} ${tail}`)
    return newestFirst(page, rows)
  }, Effect.orDie)
