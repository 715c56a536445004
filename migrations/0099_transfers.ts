import { Effect } from "effect"
import { SqlClient } from "effect/sql"

const statements = [
  `CREATE TABLE transfers (
    id bigint PRIMARY KEY,
    account_id bigint NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    kind text NOT NULL,
    state text NOT NULL,
    -- Name of the file or server that a transfer reads from.
    source text NOT NULL DEFAULT '',
    options jsonb NOT NULL DEFAULT '{}',
    -- Place of the next step, in the form of the kind; null before the first one.
    cursor jsonb,
    total integer NOT NULL DEFAULT 0,
    processed integer NOT NULL DEFAULT 0,
    added integer NOT NULL DEFAULT 0,
    removed integer NOT NULL DEFAULT 0,
    failed integer NOT NULL DEFAULT 0,
    -- Reason why the whole transfer failed.
    problem text,
    -- Time of the next step, or end of the lease of the step that runs.
    due_at timestamptz NOT NULL,
    -- Claims since the last committed progress.
    tries integer NOT NULL DEFAULT 0,
    created_at timestamptz NOT NULL,
    started_at timestamptz,
    finished_at timestamptz,
    -- The transfer is deleted then, with its lines and files.
    expires_at timestamptz NOT NULL
  )`,
  "CREATE INDEX transfers_account ON transfers (account_id, id)",
  "CREATE INDEX transfers_due ON transfers (due_at) WHERE state IN ('scheduled', 'in_progress')",
  "CREATE INDEX transfers_expiry ON transfers (expires_at)",
  `CREATE TABLE transfer_lines (
    transfer_id bigint NOT NULL REFERENCES transfers (id) ON DELETE CASCADE,
    place integer NOT NULL,
    -- Normalised name of the line's subject: handle, domain, URL or title.
    name text NOT NULL,
    -- Host that must be asked for the subject; null for a local one.
    host text,
    details jsonb NOT NULL,
    state text NOT NULL DEFAULT 'waiting',
    -- Account or status behind the name, once known.
    subject_id bigint,
    -- The wanted state held before the line was processed; null if not checked yet.
    present boolean,
    -- Reason of a failed line.
    reason text,
    tries integer NOT NULL DEFAULT 0,
    due_at timestamptz NOT NULL,
    PRIMARY KEY (transfer_id, place)
  )`,
  "CREATE INDEX transfer_lines_waiting ON transfer_lines (transfer_id, place) WHERE state = 'waiting'",
  // A hash index has no maximum length of its values.
  "CREATE INDEX transfer_lines_name ON transfer_lines USING hash (name)",
  "ALTER TABLE stored_files ADD COLUMN transfer_id bigint REFERENCES transfers (id) ON DELETE SET NULL",
  "CREATE INDEX stored_files_transfer ON stored_files (transfer_id) WHERE transfer_id IS NOT NULL",
  "DROP INDEX stored_files_unheld",
  `CREATE INDEX stored_files_unheld ON stored_files (created_at)
    WHERE media_id IS NULL AND account_id IS NULL AND emoji_id IS NULL AND setting IS NULL AND card_id IS NULL
      AND transfer_id IS NULL`,
  `COMMENT ON TABLE transfers IS
    'Imports and exports of a local account: their options, state, cursor and counts. Any node may run the next step.'`,
  `COMMENT ON TABLE transfer_lines IS
    'Lines of an imported file that wait or failed; lines that succeeded are deleted at the end of the import.'`
]

/** Imports and exports of accounts. */
export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
})
