import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Domain rules of the operator, progress of applying them, and follows that users lost by them. */
const statements = [
  `CREATE TABLE domain_blocks (
    id bigint PRIMARY KEY,
    domain text NOT NULL UNIQUE,
    severity text NOT NULL CHECK (severity IN ('noop', 'silence', 'suspend')),
    reject_media boolean NOT NULL,
    reject_reports boolean NOT NULL,
    private_comment text,
    public_comment text,
    obfuscate boolean NOT NULL,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL
  )`,
  `CREATE TABLE domain_allows (
    id bigint PRIMARY KEY,
    domain text NOT NULL UNIQUE,
    created_at timestamptz NOT NULL
  )`,
  // Accounts of a domain are updated in slices: by the domain of their handle (phase 0), then by the host of their actor
  // (phase 1); then users who lost follows are told (phase 2). The cursor is the last account or event.
  `CREATE TABLE domain_tasks (
    domain text PRIMARY KEY,
    cause_id bigint NOT NULL,
    phase integer NOT NULL DEFAULT 0,
    cursor_key text NOT NULL DEFAULT '',
    cursor_id bigint NOT NULL DEFAULT 0,
    created_at timestamptz NOT NULL
  )`,
  // Reversed domain without its port, so that subdomains sort together.
  `CREATE FUNCTION domain_key(domain text) RETURNS text LANGUAGE sql IMMUTABLE
     AS $$ SELECT reverse(regexp_replace(lower(domain), ':[0-9]+$', '')) $$`,
  `CREATE FUNCTION uri_host(uri text) RETURNS text LANGUAGE sql IMMUTABLE
     AS $$ SELECT substring(uri from '^https?://([^/?#]+)') $$`,
  `CREATE INDEX accounts_domain ON accounts ((domain_key(domain) COLLATE "C"), id) WHERE domain IS NOT NULL`,
  `CREATE INDEX accounts_host ON accounts ((domain_key(uri_host(uri)) COLLATE "C"), id) WHERE uri IS NOT NULL`,
  // True if the domain rule is the cause: lifting the rule then lifts this, but no other action.
  `ALTER TABLE accounts ADD COLUMN suspended_by_domain boolean NOT NULL DEFAULT false,
    ADD COLUMN silenced_by_domain boolean NOT NULL DEFAULT false,
    ADD COLUMN media_rejected boolean NOT NULL DEFAULT false`,
  // One row per local account and cause. A notification names it in place of a status.
  `CREATE TABLE severances (
    id bigint PRIMARY KEY,
    account_id bigint NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    cause_id bigint NOT NULL,
    type text NOT NULL CHECK (type IN ('domain_block', 'user_domain_block', 'account_suspension')),
    target_name text NOT NULL,
    followers_count integer NOT NULL DEFAULT 0,
    following_count integer NOT NULL DEFAULT 0,
    created_at timestamptz NOT NULL,
    UNIQUE (account_id, cause_id)
  )`,
  `CREATE INDEX severances_cause ON severances (cause_id, id)`
]

export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
})
