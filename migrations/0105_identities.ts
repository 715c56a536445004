import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * Identities of users at an OpenID provider. Users who sign up with one have no password. A user has one identity for
 * each issuer, so that a person who gets the address of another one does not get the account as well.
 */
export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE identities (
    issuer text NOT NULL,
    subject text NOT NULL,
    account_id bigint NOT NULL REFERENCES users (account_id) ON DELETE CASCADE,
    created_at timestamptz NOT NULL,
    used_at timestamptz NOT NULL,
    PRIMARY KEY (issuer, subject),
    CONSTRAINT identities_account UNIQUE (account_id, issuer)
  )`
  yield* sql`COMMENT ON TABLE identities IS
    'Identities of users at an OpenID provider, by issuer and subject, which never change.'`
  yield* sql`CREATE TABLE used_provider_states (
    state_hash bytea PRIMARY KEY,
    expires_at timestamptz NOT NULL
  )`
  yield* sql`CREATE INDEX used_provider_states_expires ON used_provider_states (expires_at)`
  yield* sql`COMMENT ON TABLE used_provider_states IS
    'States of sign-ins by an OpenID provider that were used, until they expire, so that each is accepted once.'`
  yield* sql`ALTER TABLE users ALTER COLUMN password_hash DROP NOT NULL`
  yield* sql`COMMENT ON COLUMN users.password_hash IS 'Null for users who sign in by an OpenID provider only.'`
})
