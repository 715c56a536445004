import { Clock, Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { rowsOf, singleRow } from "../database/Rows.ts"
import { Source } from "./Source.ts"
import { batchRowsMax, type Step } from "./Step.ts"

const endRows = rowsOf(Schema.Struct({ id: Schema.BigInt }))
const idListRows = rowsOf(Schema.Struct({ ids: Schema.Array(Schema.BigInt) }))

/** Returns a function that ends rows of a step here that are missing at the source, and returns their number. */
export const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const source = yield* Source

  /** Last id that was looked for at the source, by table here: several steps may copy rows of one. */
  const looked = new Map<string, bigint>()

  return Effect.fnUntraced(function*(step: Step) {
    const table = step.ends
    if (table === undefined) return 0
    let ended = 0
    let cursor = looked.get(table) ?? 0n
    const { column, cursorOf } = step.endsBy ?? { column: "id", cursorOf: step.name }
    const key = sql(column)
    for (;;) {
      const rows = yield* endRows(sql`SELECT ${key} AS id FROM ${sql(table)} WHERE ${key} > ${cursor}
        AND ${key} <= (SELECT cursor FROM transfer_cursors WHERE step = ${cursorOf}) ORDER BY ${key} LIMIT ${batchRowsMax}`)
      const last = rows.at(-1)?.id
      if (last === undefined) return ended
      const { ids } = singleRow(
        yield* idListRows(source`SELECT coalesce(array_agg(t.${source(column)}::bigint), '{}') AS ids
          FROM ${source(step.table)} t WHERE t.${source(column)} = ANY (${rows.map(({ id }) => id)}::bigint[])
            AND to_jsonb(t) ->> 'deleted_at' IS NULL AND to_jsonb(t) ->> 'revoked_at' IS NULL`)
      )
      const present = new Set(ids)
      const missing = rows.flatMap(({ id }) => present.has(id) ? [] : [id])
      if (missing.length > 0) {
        yield* table === "statuses"
          ? sql`UPDATE statuses SET deleted_at = ${new Date(yield* Clock.currentTimeMillis)}
            WHERE id = ANY (${missing}::bigint[]) AND deleted_at IS NULL`
          : sql`DELETE FROM ${sql(table)} WHERE ${key} = ANY (${missing}::bigint[])`
      }
      ended += missing.length
      cursor = last
      looked.set(table, last)
    }
  })
})
