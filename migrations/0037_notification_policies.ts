import { Effect } from "effect"
import { SqlClient } from "effect/sql"

const decision = (column: string, otherwise: string) =>
  `${column} text NOT NULL DEFAULT '${otherwise}' CHECK (${column} IN ('accept', 'filter', 'drop'))`

/**
 * Notification policies. Filtered notifications wait; each sender of filtered mentions is a notification request, and an
 * accepted sender has a permission.
 */
const statements = [
  `CREATE TABLE notification_policies (
    account_id bigint PRIMARY KEY REFERENCES accounts (id) ON DELETE CASCADE,
    ${decision("not_following", "accept")},
    ${decision("not_followers", "accept")},
    ${decision("new_accounts", "accept")},
    ${decision("private_mentions", "filter")},
    ${decision("limited_accounts", "filter")},
    ${decision("bots", "accept")}
  )`,
  `CREATE TABLE notification_permissions (
    account_id bigint NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    from_account_id bigint NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    PRIMARY KEY (account_id, from_account_id)
  )`,
  `CREATE INDEX notification_permissions_from ON notification_permissions (from_account_id)`,
  `CREATE TABLE notification_requests (
    id bigint PRIMARY KEY,
    account_id bigint NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    from_account_id bigint NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    UNIQUE (account_id, from_account_id)
  )`,
  `CREATE INDEX notification_requests_account ON notification_requests (account_id, id DESC)`,
  `CREATE INDEX notification_requests_from ON notification_requests (from_account_id)`,
  `ALTER TABLE notifications ADD COLUMN filtered boolean NOT NULL DEFAULT false`,
  `CREATE INDEX notifications_filtered ON notifications (account_id, from_account_id, id DESC) WHERE filtered`
]

export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
})
