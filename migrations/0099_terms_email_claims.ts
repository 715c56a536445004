import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** E-mails about new terms are sent under a lease, and tried again for recipients whose e-mail failed. */
export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE document_versions ADD COLUMN email_due_at timestamptz,
    ADD COLUMN email_failed_ids bigint[] NOT NULL DEFAULT '{}', ADD COLUMN email_tries int NOT NULL DEFAULT 0`
})
