import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Inboxes of servers that have a post otherwise than by a delivery: they are told of its end although it never left for them. */
const statements = [`ALTER TABLE reaches ADD COLUMN given_to integer[] NOT NULL DEFAULT '{}'`]

export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
})
