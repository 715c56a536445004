import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * Moderation of reported collections. A reported collection that its owner deletes is kept for moderators, as a reported
 * post is (S-066), in separate tables that nothing else reads.
 */
const statements = [
  // Names are kept as well: a removed collection has no row to read them from.
  `ALTER TABLE account_warnings ADD COLUMN collection_ids bigint[] NOT NULL DEFAULT '{}',
    ADD COLUMN collection_names text[] NOT NULL DEFAULT '{}'`,
  `CREATE INDEX reports_collections ON reports USING gin (collection_ids)
    WHERE action_taken_at IS NULL AND collection_ids <> '{}'`,
  `CREATE TABLE kept_collections (
    id bigint PRIMARY KEY,
    account_id bigint NOT NULL,
    local boolean NOT NULL,
    uri text,
    url text,
    name text NOT NULL,
    description text NOT NULL,
    language text,
    sensitive boolean NOT NULL,
    discoverable boolean NOT NULL,
    tag_name text,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL
  )`,
  `CREATE TABLE kept_collection_items (
    id bigint PRIMARY KEY,
    collection_id bigint NOT NULL REFERENCES kept_collections (id) ON DELETE CASCADE,
    account_id bigint NOT NULL,
    state text NOT NULL,
    position integer NOT NULL,
    created_at timestamptz NOT NULL
  )`,
  `CREATE INDEX kept_collection_items_collection ON kept_collection_items (collection_id)`,
  `CREATE FUNCTION keep_reported_collection() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    IF EXISTS (SELECT FROM reports r WHERE r.action_taken_at IS NULL AND r.collection_ids <> '{}'
      AND r.collection_ids @> ARRAY[OLD.id]) THEN
      INSERT INTO kept_collections (id, account_id, local, uri, url, name, description, language, sensitive, discoverable,
        tag_name, created_at, updated_at)
      VALUES (OLD.id, OLD.account_id, OLD.local, OLD.uri, OLD.url, OLD.name, OLD.description, OLD.language, OLD.sensitive,
        OLD.discoverable, (SELECT display_name FROM tags WHERE id = OLD.tag_id), OLD.created_at, OLD.updated_at)
      ON CONFLICT DO NOTHING;
      INSERT INTO kept_collection_items (id, collection_id, account_id, state, position, created_at)
      SELECT i.id, i.collection_id, i.account_id, i.state, i.position, i.created_at FROM collection_items i
      WHERE i.collection_id = OLD.id AND i.account_id IS NOT NULL AND i.state IN ('accepted', 'pending')
      ON CONFLICT DO NOTHING;
    END IF;
    RETURN OLD;
  END $$`,
  `CREATE TRIGGER kept BEFORE DELETE ON collections FOR EACH ROW EXECUTE FUNCTION keep_reported_collection()`,
  // Decisions about remote collections, which are sent again: removed, or else sensitive.
  `CREATE TABLE collection_decisions (
    uri text PRIMARY KEY,
    account_id bigint NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    removed boolean NOT NULL
  )`,
  `CREATE INDEX collection_decisions_account ON collection_decisions (account_id)`
]

export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
})
