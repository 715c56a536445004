import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Clamps remote dates from before `services/runtime/Moments.ts` to the years 1970 to 9999. */
const columns = [
  ["polls", "expires_at"],
  ["accounts", "created_at"],
  ["scheduled_statuses", "scheduled_at"],
  ["mutes", "expires_at"],
  ["custom_emojis", "updated_at"],
  ["agenda", "due_at"]
] as const

export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const [first, last] = [sql.literal("'1970-01-01Z'"), sql.literal("'9999-12-31T23:59:59.999Z'")]
  for (const [table, name] of columns) {
    const column = sql(name)
    yield* sql`UPDATE ${sql(table)} SET ${column} = least(greatest(${column}, ${first}), ${last})
      WHERE ${column} < ${first} OR ${column} > ${last}`
  }
})
