import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Every shown status checks whether its author is suspended; the few suspended accounts have an index of their own. */
export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE INDEX accounts_suspended ON accounts (id) WHERE suspended_at IS NOT NULL`
})
