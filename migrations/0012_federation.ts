import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Who we are to other servers, and who they are to us. */
const statements = [
  // The keys that local accounts sign with; owner 0 is the server itself.
  `CREATE TABLE signing_keys (
    owner_id bigint PRIMARY KEY,
    public_pem text NOT NULL,
    private_pem text NOT NULL,
    created_at timestamptz NOT NULL
  )`,
  // What of a remote account only other servers are concerned with; pages read accounts without it.
  `CREATE TABLE remote_actors (
    account_id bigint PRIMARY KEY REFERENCES accounts (id) ON DELETE CASCADE,
    type text NOT NULL,
    inbox_url text NOT NULL,
    shared_inbox_url text,
    outbox_url text,
    followers_url text,
    following_url text,
    featured_url text,
    featured_tags_url text,
    also_known_as text[] NOT NULL DEFAULT '{}',
    -- The document itself says that its owner is suspended; only it can say otherwise.
    suspended_by_origin boolean NOT NULL DEFAULT false,
    fetched_at timestamptz NOT NULL
  )`,
  `CREATE INDEX remote_actors_followers ON remote_actors (followers_url) WHERE followers_url IS NOT NULL`,
  `CREATE TABLE remote_keys (
    key_id text PRIMARY KEY,
    account_id bigint NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    public_pem text NOT NULL
  )`,
  `CREATE INDEX remote_keys_account ON remote_keys (account_id)`,
  // Ids that an account deleted, known or not, so that no late copy of its own brings them back (row 10).
  `CREATE TABLE tombstones (
    uri text NOT NULL,
    account_id bigint NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    deleted_at timestamptz NOT NULL,
    PRIMARY KEY (uri, account_id)
  )`
]

export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
})
