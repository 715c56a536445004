import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * Full-text search of posts, without an extension. `search_documents` has the words of searchable posts, `search_queue` the
 * posts to index, and `search_scans` the accounts whose posts are all to be indexed, from the newest on (account 0: all
 * accounts). Triggers fill both, so that no writer can forget to. A deleted post leaves the index in the same transaction.
 */
const statements = [
  `CREATE TABLE search_documents (
    status_id bigint PRIMARY KEY REFERENCES statuses (id) ON DELETE CASCADE,
    tokens tsvector NOT NULL
  )`,
  // Every search scans the pending list of the index, so it is bounded: half a megabyte.
  `CREATE INDEX search_documents_tokens ON search_documents USING gin (tokens) WITH (gin_pending_list_limit = 512)`,
  // Languages present in the index, so that words are stemmed in no others.
  `CREATE TABLE search_languages (language text PRIMARY KEY)`,
  `CREATE TABLE search_queue (place bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, status_id bigint NOT NULL)`,
  `CREATE TABLE search_scans (account_id bigint PRIMARY KEY, below bigint NOT NULL)`,
  `INSERT INTO search_scans (account_id, below) SELECT 0, 9223372036854775807 WHERE EXISTS (SELECT FROM statuses)`,
  // A reblog makes its original one of the account's own posts.
  `CREATE FUNCTION search_status_written() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF NEW.deleted_at IS NOT NULL THEN
      DELETE FROM search_documents WHERE status_id = NEW.id;
    ELSIF NEW.reblog_of_id IS NULL THEN
      INSERT INTO search_queue (status_id) VALUES (NEW.id);
    ELSIF NEW.local THEN
      INSERT INTO search_queue (status_id) SELECT NEW.reblog_of_id
        WHERE NOT EXISTS (SELECT FROM search_documents WHERE status_id = NEW.reblog_of_id);
    END IF;
    RETURN NULL;
  END $$`,
  `CREATE TRIGGER search_status_inserted AFTER INSERT ON statuses FOR EACH ROW EXECUTE FUNCTION search_status_written()`,
  `CREATE TRIGGER search_status_updated AFTER UPDATE OF edited_at, deleted_at, visibility ON statuses
    FOR EACH ROW WHEN (OLD.edited_at IS DISTINCT FROM NEW.edited_at OR OLD.deleted_at IS DISTINCT FROM NEW.deleted_at
      OR OLD.visibility <> NEW.visibility) EXECUTE FUNCTION search_status_written()`,
  `CREATE FUNCTION search_status_marked() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO search_queue (status_id) SELECT NEW.status_id FROM users WHERE account_id = NEW.account_id
      AND NOT EXISTS (SELECT FROM search_documents WHERE status_id = NEW.status_id);
    RETURN NULL;
  END $$`,
  ...["favourites", "bookmarks", "poll_votes"].map((table) =>
    `CREATE TRIGGER search_status_marked AFTER INSERT ON ${table} FOR EACH ROW EXECUTE FUNCTION search_status_marked()`
  ),
  // The card of a status, and the target of a link, are known only after the status is written.
  `CREATE FUNCTION search_card_known() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO search_queue (status_id) SELECT status_id FROM status_cards WHERE card_id = NEW.id
      ORDER BY status_id DESC LIMIT 500;
    RETURN NULL;
  END $$`,
  `CREATE TRIGGER search_card_known AFTER UPDATE OF details ON preview_cards
    FOR EACH ROW WHEN (OLD.details IS NULL AND NEW.details IS NOT NULL) EXECUTE FUNCTION search_card_known()`,
  `CREATE FUNCTION search_account_indexable() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO search_scans (account_id, below) VALUES (NEW.id, 9223372036854775807)
      ON CONFLICT (account_id) DO UPDATE SET below = excluded.below;
    RETURN NULL;
  END $$`,
  `CREATE TRIGGER search_account_indexable AFTER UPDATE OF indexable ON accounts
    FOR EACH ROW WHEN (OLD.indexable <> NEW.indexable) EXECUTE FUNCTION search_account_indexable()`
]

export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
})
