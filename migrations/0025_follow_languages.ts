import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** An empty language filter would hide every post with a language: it is stored as NULL, which means all. */
export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  for (const table of ["follows", "follow_requests"]) {
    yield* sql`UPDATE ${sql(table)} SET languages = NULL WHERE languages = '{}'`
    yield* sql`ALTER TABLE ${sql(table)} ADD CONSTRAINT ${sql(`${table}_languages`)} CHECK (languages <> '{}')`
  }
})
