import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * Collections: accounts that a member recommends (FEP-7aa9). Remote collections have URIs. An item's account is null until
 * it is known here.
 */
const statements = [
  `CREATE TABLE collections (
    id bigint PRIMARY KEY,
    account_id bigint NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    local boolean NOT NULL,
    uri text,
    url text,
    name text NOT NULL,
    -- Plain text of a local collection, sanitized HTML of a remote one.
    description text NOT NULL DEFAULT '',
    language text,
    sensitive boolean NOT NULL DEFAULT false,
    discoverable boolean NOT NULL DEFAULT true,
    tag_id bigint REFERENCES tags (id) ON DELETE SET NULL,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL
  )`,
  `CREATE UNIQUE INDEX collections_uri ON collections (uri) WHERE uri IS NOT NULL`,
  `CREATE INDEX collections_account ON collections (account_id, id DESC)`,
  `CREATE INDEX collections_tag ON collections (tag_id) WHERE tag_id IS NOT NULL`,
  `CREATE TABLE collection_items (
    id bigint PRIMARY KEY,
    collection_id bigint NOT NULL REFERENCES collections (id) ON DELETE CASCADE,
    account_id bigint REFERENCES accounts (id) ON DELETE CASCADE,
    state text NOT NULL CHECK (state IN ('pending', 'accepted', 'rejected', 'revoked')),
    -- Id of the item of a remote collection.
    uri text,
    -- Request to feature the account: ours to another server, or theirs to us.
    request_uri text,
    -- Authorization by the featured account, if it is remote.
    approval_uri text,
    position integer NOT NULL,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    UNIQUE (collection_id, account_id)
  )`,
  `CREATE UNIQUE INDEX collection_items_uri ON collection_items (uri) WHERE uri IS NOT NULL`,
  `CREATE INDEX collection_items_account ON collection_items (account_id, id DESC)`,
  `CREATE INDEX collection_items_request ON collection_items (request_uri) WHERE request_uri IS NOT NULL`,
  `CREATE INDEX collection_items_ended ON collection_items (updated_at) WHERE state IN ('rejected', 'revoked')`,
  // Accounts that may feature a remote account according to its actor document (null if unstated), and its collections
  // URL.
  `ALTER TABLE remote_actors ADD COLUMN feature_automatic text[], ADD COLUMN feature_manual text[],
     ADD COLUMN featured_collections_url text`
]

export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
})
