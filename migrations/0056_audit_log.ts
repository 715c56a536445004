import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * Actions of staff. Rows outlive the objects that they name, so they have no foreign keys, and they are never changed.
 * Moderators and admins read closed timelines, as in Mastodon since 4.5 (bit 20).
 */
const statements = [
  `UPDATE roles SET permissions = permissions | 1048576 WHERE id IN (1, 2)`,
  `CREATE TABLE audit_log (
    id bigint PRIMARY KEY,
    -- Absent for the server itself and the command line.
    account_id bigint,
    -- Username that the account had.
    username text,
    action text NOT NULL,
    target_type text NOT NULL,
    target_id bigint,
    target_label text NOT NULL,
    before jsonb,
    after jsonb,
    created_at timestamptz NOT NULL
  )`,
  `CREATE INDEX audit_log_account ON audit_log (account_id, id)`,
  `CREATE INDEX audit_log_target ON audit_log (target_type, target_id, id)`,
  `CREATE FUNCTION audit_log_stands() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN RAISE EXCEPTION 'The audit log is not changed'; END $$`,
  `CREATE TRIGGER audit_log_stands BEFORE UPDATE OR DELETE ON audit_log
    FOR EACH ROW EXECUTE FUNCTION audit_log_stands()`
]

export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
})
