import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Keys of local actors, and ActivityPub data of remote ones. */
const statements = [
  // Signing keys of local accounts; owner 0 is the server itself.
  `CREATE TABLE signing_keys (
    owner_id bigint PRIMARY KEY,
    public_pem text NOT NULL,
    private_pem text NOT NULL,
    created_at timestamptz NOT NULL
  )`,
  // Data of remote accounts that only federation needs; pages read accounts without it.
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
    -- Set if the actor document says that the account is suspended; only the document can clear it.
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
  // Ids that an account deleted, known here or not, so that a late copy does not restore them (row 10).
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
