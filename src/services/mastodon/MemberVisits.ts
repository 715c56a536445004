import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { rowsOf, singleRow } from "../database/Rows.ts"

const visitRows = rowsOf(Schema.Struct({ visited: Schema.Boolean }))

/** Returns true if members have used this server: a copy brings neither visits nor sessions of browsers. */
export const hasVisitors = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  return singleRow(
    yield* visitRows(sql`SELECT EXISTS (SELECT FROM active_days) OR EXISTS (SELECT FROM sessions) AS visited`)
  ).visited
})
