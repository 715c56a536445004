import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * End-to-end encrypted messages: a device is an access token with keys, others claim one of its one-time keys to begin a
 * session, and messages wait until the device clears them.
 */
const statements = [
  `CREATE TABLE devices (
    id bigint PRIMARY KEY,
    token_id bigint NOT NULL UNIQUE REFERENCES oauth_tokens (id) ON DELETE CASCADE,
    account_id bigint NOT NULL REFERENCES users (account_id) ON DELETE CASCADE,
    device_id text NOT NULL,
    name text NOT NULL,
    fingerprint_key text NOT NULL,
    identity_key text NOT NULL,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    UNIQUE (account_id, device_id)
  )`,
  `CREATE TABLE one_time_keys (
    id bigint PRIMARY KEY,
    device bigint NOT NULL REFERENCES devices (id) ON DELETE CASCADE,
    key_id text NOT NULL,
    key text NOT NULL,
    signature text NOT NULL,
    UNIQUE (device, key_id)
  )`,
  `CREATE INDEX one_time_keys_device ON one_time_keys (device, id)`,
  `CREATE TABLE encrypted_messages (
    id bigint PRIMARY KEY,
    device bigint NOT NULL REFERENCES devices (id) ON DELETE CASCADE,
    from_account_id bigint NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    from_device_id text NOT NULL,
    type integer NOT NULL,
    body text NOT NULL,
    digest text NOT NULL,
    message_franking text NOT NULL,
    created_at timestamptz NOT NULL
  )`,
  `CREATE INDEX encrypted_messages_device ON encrypted_messages (device, id)`,
  `CREATE INDEX encrypted_messages_from ON encrypted_messages (from_account_id)`,
  `CREATE INDEX encrypted_messages_created ON encrypted_messages (created_at)`
]

export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
})
