import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Lease and retries of emails about new terms; refused addresses are tried once more at the end. */
export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE document_versions ADD COLUMN emails_due_at timestamptz,
    ADD COLUMN emails_refused bigint[] NOT NULL DEFAULT '{}', ADD COLUMN emails_tries int NOT NULL DEFAULT 0`
})
