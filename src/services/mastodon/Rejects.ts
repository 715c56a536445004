import { Effect, Option, Schema, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { rowsOf, singleRow } from "../database/Rows.ts"

const rejectRows = rowsOf(Schema.Struct({ step: Schema.String, rowId: Schema.BigInt, reason: Schema.String }))
const countRows = rowsOf(Schema.Struct({ count: Schema.Int }))

/** Rows that are read at once. */
const pageRowsMax = 5_000

/** Number of rows that are not copied. */
export const count = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  return singleRow(yield* countRows(sql`SELECT count(*)::int AS count FROM transfer_rejects`)).count
})

/** Rows that are not copied as lines of step, id and reason, separated by tabs. */
export const lines = Stream.unwrap(
  Effect.map(SqlClient.SqlClient, (sql) =>
    Stream.paginate({ step: "", rowId: 0n }, (last) =>
      Effect.map(
        rejectRows(sql`SELECT step, row_id, reason FROM transfer_rejects
        WHERE (step, row_id) > (${last.step}, ${last.rowId}) ORDER BY step, row_id LIMIT ${pageRowsMax}`),
        (rows) =>
          [
            rows.map(({ reason, rowId, step }) => `${step}\t${rowId}\t${reason.replace(/\s+/g, " ")}\n`),
            Option.fromUndefinedOr(rows.length < pageRowsMax ? undefined : rows.at(-1))
          ] as const
      )))
)
