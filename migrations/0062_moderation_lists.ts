import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Subscribed moderation lists, their entries, and the suggestions they make. */
const statements = [
  `CREATE TABLE moderation_lists (
    id bigint PRIMARY KEY,
    name text NOT NULL,
    url text NOT NULL UNIQUE,
    type text NOT NULL CHECK (type IN ('csv', 'fires')),
    -- Action for lists that only name domains.
    action text NOT NULL CHECK (action IN ('accept', 'reject')),
    priority integer NOT NULL,
    apply_automatically boolean NOT NULL,
    retract_automatically boolean NOT NULL,
    preserve_relationships boolean NOT NULL,
    override_unattributed boolean NOT NULL,
    created_at timestamptz NOT NULL,
    synced_at timestamptz,
    -- Time of the next fetch.
    due_at timestamptz NOT NULL,
    error text,
    -- Unsubscribed; its effects are being undone.
    ended_at timestamptz
  )`,
  `CREATE TABLE moderation_list_entries (
    list_id bigint NOT NULL REFERENCES moderation_lists (id) ON DELETE CASCADE,
    domain text NOT NULL,
    action text NOT NULL CHECK (action IN ('accept', 'limit', 'reject')),
    reject_media boolean NOT NULL,
    reject_reports boolean NOT NULL,
    public_comment text,
    obfuscate boolean NOT NULL,
    PRIMARY KEY (domain, list_id)
  )`,
  `CREATE INDEX moderation_list_entries_list ON moderation_list_entries (list_id, domain)`,
  `CREATE TABLE moderation_suggestions (
    id bigint PRIMARY KEY,
    domain text NOT NULL,
    action text NOT NULL CHECK (action IN ('retract', 'accept', 'limit', 'reject')),
    state text NOT NULL CHECK (state IN ('new', 'applied', 'dismissed')),
    list_id bigint REFERENCES moderation_lists (id) ON DELETE CASCADE,
    created_at timestamptz NOT NULL,
    UNIQUE (domain, action)
  )`,
  `CREATE INDEX moderation_suggestions_list ON moderation_suggestions (list_id)`,
  `ALTER TABLE domain_blocks ADD COLUMN list_id bigint REFERENCES moderation_lists (id) ON DELETE SET NULL`,
  `CREATE INDEX domain_blocks_list ON domain_blocks (list_id, domain) WHERE list_id IS NOT NULL`,
  `ALTER TABLE domain_allows ADD COLUMN list_id bigint REFERENCES moderation_lists (id) ON DELETE SET NULL`,
  `CREATE INDEX domain_allows_list ON domain_allows (list_id, domain) WHERE list_id IS NOT NULL`
]

export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
})
