import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Reports to the moderators; unresolved until `action_taken_at`. */
const statements = [
  `CREATE TABLE reports (
    id bigint PRIMARY KEY,
    account_id bigint NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    target_account_id bigint NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    category text NOT NULL CHECK (category IN ('spam', 'legal', 'violation', 'other')),
    comment text NOT NULL,
    status_ids bigint[] NOT NULL,
    rule_ids bigint[] NOT NULL,
    -- Servers to forward the report to.
    forward_domains text[] NOT NULL,
    uri text UNIQUE,
    created_at timestamptz NOT NULL,
    action_taken_at timestamptz
  )`,
  `CREATE INDEX reports_account ON reports (account_id)`,
  `CREATE INDEX reports_target ON reports (target_account_id, id)`,
  `CREATE INDEX reports_statuses ON reports USING gin (status_ids) WHERE action_taken_at IS NULL`
]

export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
})
