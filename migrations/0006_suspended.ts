import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Whether an author is suspended is asked for every status that is shown; the few that are stand in an index of their own. */
export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE INDEX accounts_suspended ON accounts (id) WHERE suspended_at IS NOT NULL`
})
