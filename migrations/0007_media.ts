import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * Stored files and media attachments. `stored_files` is the ledger of the storage: its row exists before the first byte
 * is written and until the last is deleted. A file without an owner is swept after a while.
 */
const statements = [
  `CREATE TABLE media_attachments (
    id bigint PRIMARY KEY,
    account_id bigint NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    status_id bigint REFERENCES statuses (id) ON DELETE SET NULL,
    scheduled_status_id bigint REFERENCES scheduled_statuses (id) ON DELETE SET NULL,
    type text NOT NULL CHECK (type IN ('image', 'gifv', 'video', 'audio', 'unknown')),
    state text NOT NULL CHECK (state IN ('queued', 'processing', 'ready', 'failed')),
    description text,
    focus_x double precision,
    focus_y double precision,
    meta jsonb NOT NULL DEFAULT '{}',
    blurhash text,
    -- Upload until it is processed, and the sniffed type of upload and thumbnail.
    upload_name text,
    upload_type text,
    thumbnail_name text,
    thumbnail_type text,
    -- Processed files. Null until the job is done; previews are null where none exists.
    file_name text,
    preview_name text,
    -- Number of attempts; only the latest attempt may finish the job.
    attempts integer NOT NULL DEFAULT 0,
    error text,
    created_at timestamptz NOT NULL,
    -- Start of the last attempt, or the time at which the file lost its post.
    touched_at timestamptz NOT NULL
  )`,
  `CREATE INDEX media_attachments_status ON media_attachments (status_id) WHERE status_id IS NOT NULL`,
  `CREATE INDEX media_attachments_scheduled ON media_attachments (scheduled_status_id) WHERE scheduled_status_id IS NOT NULL`,
  `CREATE INDEX media_attachments_account ON media_attachments (account_id, id)`,
  `CREATE INDEX media_attachments_waiting ON media_attachments (touched_at) WHERE state IN ('queued', 'processing')`,
  `CREATE INDEX media_attachments_unattached ON media_attachments (touched_at)
     WHERE status_id IS NULL AND scheduled_status_id IS NULL`,
  `CREATE TABLE stored_files (
    name text PRIMARY KEY,
    bytes bigint NOT NULL DEFAULT 0,
    -- Start of the deletion of its bytes; nothing may own the file from then on.
    doomed_at timestamptz,
    media_id bigint REFERENCES media_attachments (id) ON DELETE SET NULL,
    account_id bigint REFERENCES accounts (id) ON DELETE SET NULL,
    emoji_id bigint REFERENCES custom_emojis (id) ON DELETE SET NULL,
    created_at timestamptz NOT NULL
  )`,
  `CREATE INDEX stored_files_media ON stored_files (media_id) WHERE media_id IS NOT NULL`,
  `CREATE INDEX stored_files_account ON stored_files (account_id) WHERE account_id IS NOT NULL`,
  `CREATE INDEX stored_files_emoji ON stored_files (emoji_id) WHERE emoji_id IS NOT NULL`,
  `CREATE INDEX stored_files_unheld ON stored_files (created_at)
     WHERE media_id IS NULL AND account_id IS NULL AND emoji_id IS NULL`,
  // Attachments in order; an edit keeps those it showed, with their descriptions at that time.
  `ALTER TABLE statuses ADD COLUMN media_ids bigint[] NOT NULL DEFAULT '{}'`,
  `CREATE INDEX statuses_with_media ON statuses (id DESC) WHERE media_ids <> '{}' AND deleted_at IS NULL`,
  `CREATE INDEX statuses_account_media ON statuses (account_id, id DESC) WHERE media_ids <> '{}' AND deleted_at IS NULL`,
  `ALTER TABLE status_edits ADD COLUMN media_ids bigint[] NOT NULL DEFAULT '{}'`,
  `ALTER TABLE status_edits ADD COLUMN media_descriptions text[] NOT NULL DEFAULT '{}'`,
  `ALTER TABLE accounts ADD COLUMN avatar_name text`,
  `ALTER TABLE accounts ADD COLUMN avatar_static_name text`,
  `ALTER TABLE accounts ADD COLUMN header_name text`,
  `ALTER TABLE accounts ADD COLUMN header_static_name text`
]

export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
})
