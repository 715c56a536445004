import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Finds remote requests by id: their sender may take them back. */
export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE INDEX interaction_requests_request ON interaction_requests (request_uri) WHERE request_uri IS NOT NULL`
  yield* sql`CREATE INDEX quotes_request ON quotes (request_uri) WHERE request_uri IS NOT NULL`
})
