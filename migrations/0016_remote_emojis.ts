import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Emoji of other servers: what their origin says of their last change, and when we heard of it. */
const statements = [
  `ALTER TABLE custom_emojis ADD COLUMN updated_at timestamptz, ADD COLUMN refreshed_at timestamptz`,
  `CREATE INDEX custom_emojis_domain ON custom_emojis (domain) WHERE domain IS NOT NULL`
]

export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
})
