import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * Archives of accounts. `archive_parts` is a zip in parts that steps wrote, and `archive_entries` lists its files.
 * `archive_items` and `archive_files` have the posts and files of an archive that are not imported yet.
 * `imported_statuses` has the original ids, so that an archive that is imported twice adds nothing, and a whole import can
 * be undone.
 */
const statements = [
  `ALTER TABLE statuses ADD COLUMN imported boolean NOT NULL DEFAULT false`,
  `CREATE TABLE imported_statuses (
    account_id bigint NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    -- Id and page of the post where it was written.
    uri text NOT NULL,
    url text NOT NULL,
    status_id bigint NOT NULL REFERENCES statuses (id) ON DELETE CASCADE,
    -- Import that added it, whose row is deleted after a year.
    transfer_id bigint NOT NULL,
    PRIMARY KEY (account_id, uri)
  )`,
  `CREATE UNIQUE INDEX imported_statuses_status ON imported_statuses (status_id)`,
  `CREATE INDEX imported_statuses_transfer ON imported_statuses (transfer_id, status_id)`,
  `COMMENT ON TABLE imported_statuses IS 'Original ids of posts that were imported from archives.'`,
  `CREATE TABLE archive_schedules (
    account_id bigint PRIMARY KEY REFERENCES accounts (id) ON DELETE CASCADE,
    due_at timestamptz NOT NULL
  )`,
  `CREATE INDEX archive_schedules_due ON archive_schedules (due_at)`,
  `COMMENT ON TABLE archive_schedules IS 'Users who want a new archive every week.'`,
  `CREATE TABLE archive_items (
    transfer_id bigint NOT NULL REFERENCES transfers (id) ON DELETE CASCADE,
    published_at timestamptz NOT NULL,
    place integer NOT NULL,
    -- The activity as JSON.
    activity text NOT NULL,
    PRIMARY KEY (transfer_id, published_at, place)
  )`,
  `COMMENT ON TABLE archive_items IS 'Posts of an archive that are not imported yet.'`,
  `CREATE TABLE archive_files (
    transfer_id bigint NOT NULL REFERENCES transfers (id) ON DELETE CASCADE,
    path text NOT NULL,
    -- Stored file, and its type by its content.
    name text NOT NULL,
    type text NOT NULL,
    bytes bigint NOT NULL,
    PRIMARY KEY (transfer_id, path)
  )`,
  `COMMENT ON TABLE archive_files IS 'Files of an archive that no imported post has yet.'`,
  `CREATE TABLE archive_parts (
    transfer_id bigint NOT NULL REFERENCES transfers (id) ON DELETE CASCADE,
    place integer NOT NULL,
    -- Either a few bytes, or a stored file.
    head bytea NOT NULL DEFAULT '',
    file_name text,
    bytes bigint NOT NULL,
    PRIMARY KEY (transfer_id, place)
  )`,
  `COMMENT ON TABLE archive_parts IS 'Consecutive parts of the zip that an account downloads.'`,
  `CREATE TABLE archive_entries (
    transfer_id bigint NOT NULL REFERENCES transfers (id) ON DELETE CASCADE,
    path text NOT NULL,
    -- Part with the entry's header, and the header's offset in it.
    place integer NOT NULL,
    part_offset integer NOT NULL,
    deflated boolean NOT NULL,
    crc bigint NOT NULL,
    size bigint NOT NULL,
    stored_size bigint NOT NULL,
    PRIMARY KEY (transfer_id, place, part_offset)
  )`,
  `COMMENT ON TABLE archive_entries IS 'Files in an archive to download, for its directory.'`,
  // Imported posts are not news.
  `DROP TRIGGER webhook_status_created ON statuses`,
  `CREATE CONSTRAINT TRIGGER webhook_status_created AFTER INSERT ON statuses DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW WHEN (NEW.local AND NOT NEW.local_only AND NEW.deleted_at IS NULL
      AND NEW.visibility IN ('public', 'unlisted') AND NOT NEW.imported)
    EXECUTE FUNCTION webhook_status_created()`
]

export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
})
