import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Remote emoji: time of their last change according to their server, and of the last refresh here. */
const statements = [
  `ALTER TABLE custom_emojis ADD COLUMN updated_at timestamptz, ADD COLUMN refreshed_at timestamptz`,
  `CREATE INDEX custom_emojis_domain ON custom_emojis (domain) WHERE domain IS NOT NULL`
]

export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
})
