import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { untilNoClash } from "../../src/services/Transactions.ts"

/** Tables without rows, and all that refers to them; what the server reads at that moment may make it a deadlock. */
export const emptied = Effect.fnUntraced(function*(...tables: ReadonlyArray<string>) {
  const sql = yield* SqlClient.SqlClient
  yield* untilNoClash(sql)(sql`TRUNCATE ${sql.literal(tables.join(", "))} CASCADE`)
})
