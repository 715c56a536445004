import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * Files of the instance: local emoji name stored files, remote emoji a URL; a setting may own files, too. Files of
 * remote accounts have URLs and are stored here only once they are viewed.
 */
const statements = [
  `ALTER TABLE custom_emojis ALTER COLUMN url DROP NOT NULL, ALTER COLUMN static_url DROP NOT NULL,
    ADD COLUMN file_name text, ADD COLUMN static_name text,
    ADD CONSTRAINT custom_emojis_picture CHECK (url IS NOT NULL OR file_name IS NOT NULL)`,
  `ALTER TABLE stored_files ADD COLUMN setting text REFERENCES settings (name) ON DELETE SET NULL`,
  `CREATE INDEX stored_files_setting ON stored_files (setting) WHERE setting IS NOT NULL`,
  `DROP INDEX stored_files_unheld`,
  `CREATE INDEX stored_files_unheld ON stored_files (created_at)
     WHERE media_id IS NULL AND account_id IS NULL AND emoji_id IS NULL AND setting IS NULL`,
  `ALTER TABLE media_attachments ADD COLUMN remote_url text, ADD COLUMN preview_remote_url text`,
  `ALTER TABLE accounts ADD COLUMN avatar_remote_url text, ADD COLUMN header_remote_url text`
]

export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
})
