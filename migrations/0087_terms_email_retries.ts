import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Letters about terms are claimed until a moment, tried again while the mail server is away, and once more where one was refused. */
export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE document_versions ADD COLUMN emails_due_at timestamptz,
    ADD COLUMN emails_refused bigint[] NOT NULL DEFAULT '{}', ADD COLUMN emails_tries int NOT NULL DEFAULT 0`
})
