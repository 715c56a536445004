import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * Web push (RFC 8030): endpoint of each subscribed token, and notifications to send. Apps keep the subscription id in
 * 32 bits, so ids are counted.
 */
const statements = [
  `CREATE TABLE push_subscriptions (
    id bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    token_id bigint NOT NULL UNIQUE REFERENCES oauth_tokens (id) ON DELETE CASCADE,
    account_id bigint NOT NULL REFERENCES users (account_id) ON DELETE CASCADE,
    endpoint text NOT NULL,
    p256dh text NOT NULL,
    auth text NOT NULL,
    standard boolean NOT NULL,
    policy text NOT NULL CHECK (policy IN ('all', 'followed', 'follower', 'none')),
    -- By notification type, as the app set it.
    alerts jsonb NOT NULL,
    -- The token itself, which push messages contain, encrypted with the server's key.
    sealed_token bytea NOT NULL,
    -- The endpoint failed: nothing is sent before this time.
    rests_until timestamptz,
    created_at timestamptz NOT NULL
  )`,
  `CREATE INDEX push_subscriptions_account ON push_subscriptions (account_id)`,
  `CREATE TABLE pushes (
    subscription_id bigint NOT NULL REFERENCES push_subscriptions (id) ON DELETE CASCADE,
    notification_id bigint NOT NULL,
    due_at timestamptz NOT NULL,
    tries integer NOT NULL DEFAULT 0,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (subscription_id, notification_id)
  )`,
  `CREATE INDEX pushes_due ON pushes (due_at)`
]

export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
})
