import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Blocks by staff: email addresses, email providers, IP addresses and usernames. */
const statements = [
  `CREATE TABLE email_domain_blocks (
    id bigint PRIMARY KEY,
    domain text NOT NULL UNIQUE,
    allow_with_approval boolean NOT NULL,
    created_at timestamptz NOT NULL
  )`,
  // Refused sign-ups per block, and from how many IP addresses, which are stored as hashes.
  `CREATE TABLE email_domain_block_days (
    block_id bigint NOT NULL REFERENCES email_domain_blocks (id) ON DELETE CASCADE,
    day date NOT NULL,
    address_digest text NOT NULL,
    uses integer NOT NULL,
    PRIMARY KEY (block_id, day, address_digest)
  )`,
  `CREATE INDEX email_domain_block_days_day ON email_domain_block_days (day)`,
  `CREATE TABLE canonical_email_blocks (
    id bigint PRIMARY KEY,
    canonical_email_hash text NOT NULL UNIQUE,
    account_id bigint REFERENCES accounts (id) ON DELETE SET NULL,
    created_at timestamptz NOT NULL
  )`,
  `CREATE INDEX canonical_email_blocks_account ON canonical_email_blocks (account_id) WHERE account_id IS NOT NULL`,
  `CREATE TABLE ip_blocks (
    id bigint PRIMARY KEY,
    ip cidr NOT NULL UNIQUE,
    severity text NOT NULL CHECK (severity IN ('sign_up_requires_approval', 'sign_up_block', 'no_access')),
    comment text NOT NULL,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    expires_at timestamptz
  )`,
  `CREATE INDEX ip_blocks_expires ON ip_blocks (expires_at) WHERE expires_at IS NOT NULL`,
  `CREATE TABLE username_blocks (
    id bigint PRIMARY KEY,
    username text NOT NULL,
    normalized_username text NOT NULL UNIQUE,
    exact boolean NOT NULL,
    allow_with_approval boolean NOT NULL,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL
  )`
]

export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
})
