import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * Files and what is attached to posts. `stored_files` is the ledger of the storage: a row is there before the first byte
 * and until the last one is gone. A file that nobody holds for long was left behind and is swept.
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
    -- What the client sent, until it is worked off, and the sniffed types of both.
    upload_name text,
    upload_type text,
    thumbnail_name text,
    thumbnail_type text,
    -- What is shown. Null until the job is done; previews are null where there is none.
    file_name text,
    preview_name text,
    -- How often the job was begun; only the newest attempt may finish it.
    attempts integer NOT NULL DEFAULT 0,
    error text,
    created_at timestamptz NOT NULL,
    -- When the job was begun last, or when the file lost its post.
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
    -- Since then its bytes are being removed, and nobody may hold it any more.
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
  // What a status shows, in order; a revision keeps what it showed, with the descriptions of its time.
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
