import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * Email subscriptions of people without an account: subscribers, posts gathered for the next email, and digests being
 * sent, with `cursor` at the last subscriber who got one.
 */
const statements = [
  `ALTER TABLE users ADD COLUMN email_subscriptions boolean NOT NULL DEFAULT false`,
  `CREATE TABLE email_subscriptions (
    id bigint PRIMARY KEY,
    account_id bigint NOT NULL REFERENCES users (account_id) ON DELETE CASCADE,
    email text NOT NULL,
    locale text NOT NULL,
    created_at timestamptz NOT NULL,
    confirmed_at timestamptz,
    UNIQUE (account_id, email)
  )`,
  `CREATE INDEX email_subscriptions_account ON email_subscriptions (account_id, id)`,
  `CREATE INDEX email_subscriptions_email ON email_subscriptions (email)`,
  `CREATE INDEX email_subscriptions_pending ON email_subscriptions (created_at) WHERE confirmed_at IS NULL`,
  `CREATE TABLE email_digest_posts (
    account_id bigint NOT NULL REFERENCES users (account_id) ON DELETE CASCADE,
    status_id bigint NOT NULL,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (account_id, status_id)
  )`,
  `CREATE TABLE email_digests (
    id bigint PRIMARY KEY,
    account_id bigint NOT NULL REFERENCES users (account_id) ON DELETE CASCADE,
    status_ids bigint[] NOT NULL,
    cursor bigint NOT NULL,
    due_at timestamptz NOT NULL,
    created_at timestamptz NOT NULL
  )`,
  `CREATE INDEX email_digests_due ON email_digests (due_at)`,
  `CREATE INDEX email_digests_account ON email_digests (account_id)`
]

export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
})
