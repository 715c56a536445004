import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Follows, follow requests, blocks and mutes; notifications; markers. */
const statements = [
  `CREATE TABLE follows (
    id bigint PRIMARY KEY,
    account_id bigint NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    target_account_id bigint NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    show_reblogs boolean NOT NULL DEFAULT true,
    notify boolean NOT NULL DEFAULT false,
    languages text[],
    created_at timestamptz NOT NULL,
    UNIQUE (account_id, target_account_id)
  )`,
  `CREATE INDEX follows_target ON follows (target_account_id, id) INCLUDE (account_id)`,
  `CREATE INDEX follows_account ON follows (account_id, id)`,
  `CREATE TABLE follow_requests (
    id bigint PRIMARY KEY,
    account_id bigint NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    target_account_id bigint NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    show_reblogs boolean NOT NULL DEFAULT true,
    notify boolean NOT NULL DEFAULT false,
    languages text[],
    created_at timestamptz NOT NULL,
    UNIQUE (account_id, target_account_id)
  )`,
  `CREATE INDEX follow_requests_target ON follow_requests (target_account_id, id)`,
  `CREATE TABLE blocks (
    id bigint PRIMARY KEY,
    account_id bigint NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    target_account_id bigint NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    UNIQUE (account_id, target_account_id)
  )`,
  `CREATE INDEX blocks_target ON blocks (target_account_id)`,
  `CREATE INDEX blocks_account ON blocks (account_id, id)`,
  `CREATE TABLE mutes (
    id bigint PRIMARY KEY,
    account_id bigint NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    target_account_id bigint NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    hide_notifications boolean NOT NULL DEFAULT true,
    expires_at timestamptz,
    UNIQUE (account_id, target_account_id)
  )`,
  `CREATE INDEX mutes_target ON mutes (target_account_id)`,
  `CREATE INDEX mutes_account ON mutes (account_id, id)`,
  `CREATE TABLE domain_mutes (
    id bigint PRIMARY KEY,
    account_id bigint NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    domain text NOT NULL,
    UNIQUE (account_id, domain)
  )`,
  `CREATE TABLE account_notes (
    account_id bigint NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    target_account_id bigint NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    comment text NOT NULL,
    PRIMARY KEY (account_id, target_account_id)
  )`,
  `CREATE TABLE endorsements (
    id bigint PRIMARY KEY,
    account_id bigint NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    target_account_id bigint NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    UNIQUE (account_id, target_account_id)
  )`,
  // status_id is 0 for types without a status, so that the unique key that dedupes notifications is complete.
  `CREATE TABLE notifications (
    id bigint PRIMARY KEY,
    account_id bigint NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    type text NOT NULL,
    from_account_id bigint NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    status_id bigint NOT NULL DEFAULT 0,
    created_at timestamptz NOT NULL,
    UNIQUE (account_id, type, from_account_id, status_id)
  )`,
  `CREATE INDEX notifications_account ON notifications (account_id, id DESC)`,
  `CREATE INDEX notifications_status ON notifications (status_id) WHERE status_id <> 0`,
  `CREATE INDEX notifications_from ON notifications (from_account_id, account_id)`,
  `CREATE TABLE markers (
    account_id bigint NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    timeline text NOT NULL,
    last_read_id bigint NOT NULL,
    version integer NOT NULL DEFAULT 0,
    updated_at timestamptz NOT NULL,
    PRIMARY KEY (account_id, timeline)
  )`
]

export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
})
