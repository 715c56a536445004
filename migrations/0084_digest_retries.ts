import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** A digest by e-mail is tried again for the receivers of a slice whose e-mail failed. */
export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE email_digests ADD COLUMN receiver_ids bigint[], ADD COLUMN tries int NOT NULL DEFAULT 0`
})
