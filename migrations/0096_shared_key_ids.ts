import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Lets several accounts of one server list the same key id; the document at the id says whose it is. */
export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE remote_keys DROP CONSTRAINT remote_keys_pkey, ADD PRIMARY KEY (key_id, account_id)`
})
