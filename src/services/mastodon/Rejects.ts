import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { rowsOf } from "../database/Rows.ts"

const rejectRows = rowsOf(Schema.Struct({ step: Schema.String, rowId: Schema.BigInt, reason: Schema.String }))

/** Maximum rows in a file of rejected rows. */
const fileRowsMax = 100_000

/** Returns the rows that were not copied as lines of step, id and reason, separated by tabs. */
export const lines = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* rejectRows(sql`SELECT step, row_id, reason FROM transfer_rejects
    ORDER BY step, row_id LIMIT ${fileRowsMax}`)
  return rows.map(({ reason, rowId, step }) => `${step}\t${rowId}\t${reason.replace(/\s+/g, " ")}\n`)
})
