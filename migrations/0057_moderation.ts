import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * Moderation: strikes with appeals, notes, assignment of reports. Lists of accounts are indexed by the states that
 * moderators filter by.
 */
const statements = [
  `ALTER TABLE reports ADD COLUMN updated_at timestamptz,
    ADD COLUMN assigned_account_id bigint REFERENCES accounts (id) ON DELETE SET NULL,
    ADD COLUMN action_taken_by_account_id bigint REFERENCES accounts (id) ON DELETE SET NULL`,
  `CREATE INDEX reports_open ON reports (id) WHERE action_taken_at IS NULL`,
  `CREATE INDEX reports_assigned ON reports (assigned_account_id) WHERE assigned_account_id IS NOT NULL`,
  `CREATE INDEX reports_action_taken_by ON reports (action_taken_by_account_id) WHERE action_taken_by_account_id IS NOT NULL`,
  `CREATE TABLE account_warnings (
    id bigint PRIMARY KEY,
    -- Absent for the server itself.
    account_id bigint REFERENCES accounts (id) ON DELETE SET NULL,
    target_account_id bigint NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    action text NOT NULL CHECK (action IN
      ('none', 'disable', 'mark_statuses_as_sensitive', 'delete_statuses', 'sensitive', 'silence', 'suspend')),
    text text NOT NULL,
    status_ids bigint[] NOT NULL DEFAULT '{}',
    report_id bigint REFERENCES reports (id) ON DELETE SET NULL,
    overruled_at timestamptz,
    created_at timestamptz NOT NULL
  )`,
  `CREATE INDEX account_warnings_account ON account_warnings (account_id)`,
  `CREATE INDEX account_warnings_target ON account_warnings (target_account_id, id)`,
  `CREATE INDEX account_warnings_report ON account_warnings (report_id) WHERE report_id IS NOT NULL`,
  `CREATE TABLE appeals (
    id bigint PRIMARY KEY,
    account_warning_id bigint NOT NULL UNIQUE REFERENCES account_warnings (id) ON DELETE CASCADE,
    account_id bigint NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    text text NOT NULL,
    state text NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'approved', 'rejected')),
    decided_by_account_id bigint REFERENCES accounts (id) ON DELETE SET NULL,
    decided_at timestamptz,
    created_at timestamptz NOT NULL
  )`,
  `CREATE INDEX appeals_account ON appeals (account_id)`,
  `CREATE INDEX appeals_state ON appeals (state, id)`,
  `CREATE INDEX appeals_decided_by ON appeals (decided_by_account_id) WHERE decided_by_account_id IS NOT NULL`,
  // A note of moderators is about an account or about a report.
  `CREATE TABLE moderation_notes (
    id bigint PRIMARY KEY,
    account_id bigint REFERENCES accounts (id) ON DELETE SET NULL,
    target_account_id bigint REFERENCES accounts (id) ON DELETE CASCADE,
    report_id bigint REFERENCES reports (id) ON DELETE CASCADE,
    content text NOT NULL,
    created_at timestamptz NOT NULL,
    CHECK ((target_account_id IS NULL) <> (report_id IS NULL))
  )`,
  `CREATE INDEX moderation_notes_author ON moderation_notes (account_id)`,
  `CREATE INDEX moderation_notes_account ON moderation_notes (target_account_id, id) WHERE target_account_id IS NOT NULL`,
  `CREATE INDEX moderation_notes_report ON moderation_notes (report_id, id) WHERE report_id IS NOT NULL`,
  `CREATE INDEX accounts_local ON accounts (id) WHERE domain IS NULL`,
  `CREATE INDEX accounts_silenced ON accounts (id) WHERE silenced_at IS NOT NULL`,
  `CREATE INDEX accounts_sensitized ON accounts (id) WHERE sensitized_at IS NOT NULL`,
  `CREATE INDEX accounts_display_name_start ON accounts (lower(display_name) text_pattern_ops) WHERE display_name <> ''`,
  `CREATE INDEX users_waiting ON users (account_id) WHERE NOT approved`,
  `CREATE INDEX users_disabled ON users (account_id) WHERE disabled`,
  `CREATE INDEX users_role ON users (role_id, account_id) WHERE role_id <> -99`,
  `CREATE INDEX users_email_start ON users (lower(email) text_pattern_ops)`,
  `CREATE INDEX sessions_ip ON sessions (ip) WHERE ip IS NOT NULL`
]

export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
})
