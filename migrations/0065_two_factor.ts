import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * Two-factor sign-in. `otp_secret` is encrypted with the server's key; a code of a time step up to `otp_last_step` was
 * already used, on whichever node. Recovery codes and the secrets of pending sign-ins are stored as SHA-256 hashes.
 */
export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE users ADD COLUMN otp_secret bytea, ADD COLUMN otp_enabled_at timestamptz,
    ADD COLUMN otp_last_step bigint,
    ADD CONSTRAINT users_otp CHECK ((otp_secret IS NULL) = (otp_enabled_at IS NULL))`
  yield* sql`CREATE TABLE recovery_codes (
    account_id bigint NOT NULL REFERENCES users (account_id) ON DELETE CASCADE,
    code_hash bytea NOT NULL,
    PRIMARY KEY (account_id, code_hash)
  )`
  yield* sql`CREATE TABLE pending_sign_ins (
    secret_hash bytea PRIMARY KEY,
    account_id bigint NOT NULL REFERENCES users (account_id) ON DELETE CASCADE,
    tries integer NOT NULL DEFAULT 0,
    expires_at timestamptz NOT NULL,
    created_at timestamptz NOT NULL
  )`
  yield* sql`CREATE INDEX pending_sign_ins_account ON pending_sign_ins (account_id, created_at)`
  yield* sql`CREATE INDEX pending_sign_ins_expires ON pending_sign_ins (expires_at)`
})
