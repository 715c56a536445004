import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * Links for the owner's account, passkeys, and known networks and browsers of users. Secrets and challenges are stored
 * as SHA-256 hashes.
 */
export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE owner_links (
    secret_hash bytea PRIMARY KEY,
    expires_at timestamptz NOT NULL
  )`
  yield* sql`COMMENT ON TABLE owner_links IS
    'One-time links, printed at the start, to create the owner''s account while there is none.'`
  yield* sql`CREATE TABLE passkeys (
    credential_id bytea PRIMARY KEY,
    account_id bigint NOT NULL REFERENCES users (account_id) ON DELETE CASCADE,
    public_key bytea NOT NULL,
    counter bigint NOT NULL,
    transports text[] NOT NULL,
    name text NOT NULL,
    created_at timestamptz NOT NULL,
    used_at timestamptz
  )`
  yield* sql`CREATE INDEX passkeys_account ON passkeys (account_id)`
  yield* sql`COMMENT ON TABLE passkeys IS 'Passkeys (WebAuthn credentials) of users, with their signature counters.'`
  yield* sql`CREATE TABLE used_passkey_challenges (
    challenge_hash bytea PRIMARY KEY,
    expires_at timestamptz NOT NULL
  )`
  yield* sql`CREATE INDEX used_passkey_challenges_expires ON used_passkey_challenges (expires_at)`
  yield* sql`COMMENT ON TABLE used_passkey_challenges IS
    'Challenges of passkeys that were answered, until they expire, so that each is accepted once.'`
  yield* sql`CREATE TABLE sign_in_places (
    account_id bigint NOT NULL REFERENCES users (account_id) ON DELETE CASCADE,
    place text NOT NULL,
    seen_at timestamptz NOT NULL,
    PRIMARY KEY (account_id, place)
  )`
  yield* sql`COMMENT ON TABLE sign_in_places IS
    'Networks and browsers that a user signed in from; a sign-in from any other is reported by e-mail.'`
})
