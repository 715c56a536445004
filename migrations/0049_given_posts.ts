import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Inboxes of servers that got a post other than by delivery: they also receive its Delete. */
const statements = [`ALTER TABLE reaches ADD COLUMN given_to integer[] NOT NULL DEFAULT '{}'`]

export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
})
