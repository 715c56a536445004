import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql/SqlClient"
import type { Fragment } from "effect/sql/Statement"
import { rowsOf } from "../database/Rows.ts"
import { type Filter, FilterRow } from "./Filter.ts"

const ids = Schema.Array(Schema.BigInt)
const Row = Schema.Struct({
  ...FilterRow.fields,
  keywordIds: ids,
  keywords: Schema.Array(Schema.String),
  wholeWords: Schema.Array(Schema.Boolean),
  entryIds: ids,
  statusIds: ids
})
const filterRows = rowsOf(Row)

/** Reads the complete filters `f` that meet a condition, oldest first, by one query. */
export const filtersWhere = (sql: SqlClient, condition: Fragment) => {
  const keywords = (column: string) =>
    sql.literal(`ARRAY(SELECT ${column} FROM filter_keywords WHERE filter_id = f.id ORDER BY id)`)
  const statuses = (column: string) =>
    sql.literal(`ARRAY(SELECT ${column} FROM filter_statuses WHERE filter_id = f.id ORDER BY id)`)
  return Effect.map(
    filterRows(sql`
      SELECT f.id, f.account_id, f.title, f.contexts, f.action, f.expires_at, ${keywords("id")} AS keyword_ids,
        ${keywords("keyword")} AS keywords, ${keywords("whole_word")} AS whole_words,
        ${statuses("id")} AS entry_ids, ${statuses("status_id")} AS status_ids
      FROM filters f WHERE ${condition} ORDER BY f.id`),
    (rows) =>
      rows.map(({ entryIds, keywordIds, keywords, statusIds, wholeWords, ...row }): Filter => ({
        ...row,
        keywords: keywordIds.map((id, at) => ({
          id,
          keyword: keywords[at] ?? "",
          wholeWord: wholeWords[at] ?? true
        })),
        statuses: entryIds.map((id, at) => ({ id, statusId: statusIds[at] ?? 0n }))
      }))
  )
}
