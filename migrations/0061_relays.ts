import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Relays, and notes of staff about servers. */
const statements = [
  `CREATE TABLE relays (
    id bigint PRIMARY KEY,
    kind text NOT NULL CHECK (kind IN ('mastodon', 'litepub')),
    inbox_url text NOT NULL UNIQUE,
    inbox_id integer NOT NULL REFERENCES inboxes (id),
    -- LitePub: the actor that accepted our follow or is its object.
    account_id bigint REFERENCES accounts (id) ON DELETE SET NULL,
    state text NOT NULL CHECK (state IN ('idle', 'pending', 'accepted', 'rejected')),
    -- Id of our last follow; only a response to it counts.
    follow_uri text,
    created_at timestamptz NOT NULL
  )`,
  // Notes of staff about servers.
  `CREATE TABLE instance_notes (
    id bigint PRIMARY KEY,
    domain text NOT NULL,
    account_id bigint REFERENCES accounts (id) ON DELETE SET NULL,
    content text NOT NULL,
    created_at timestamptz NOT NULL
  )`,
  `CREATE INDEX instance_notes_domain ON instance_notes (domain, id)`,
  `CREATE INDEX instance_notes_account ON instance_notes (account_id) WHERE account_id IS NOT NULL`,
  `CREATE INDEX relays_account ON relays (account_id) WHERE account_id IS NOT NULL`
]

export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
})
