import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** A filter of languages without any would hide every post that has one: none is kept as NULL, which means all. */
export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  for (const table of ["follows", "follow_requests"]) {
    yield* sql`UPDATE ${sql(table)} SET languages = NULL WHERE languages = '{}'`
    yield* sql`ALTER TABLE ${sql(table)} ADD CONSTRAINT ${sql(`${table}_languages`)} CHECK (languages <> '{}')`
  }
})
