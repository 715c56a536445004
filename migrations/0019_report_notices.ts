import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Notifications about reports: one per moderator and report. 0 for types without a report. */
const statements = [
  `ALTER TABLE notifications ADD COLUMN report_id bigint NOT NULL DEFAULT 0,
    DROP CONSTRAINT notifications_account_id_type_from_account_id_status_id_key,
    ADD CONSTRAINT notifications_once UNIQUE (account_id, type, from_account_id, status_id, report_id)`,
  `CREATE INDEX reports_created ON reports (created_at)`
]

export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
})
