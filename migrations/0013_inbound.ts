import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * What other servers sent. A row is written before the sender is told that we have it, and its sender's actor works it off.
 * What is done stays for a while without its text, so that nothing has its effect twice (row 78).
 */
const statements = [
  `CREATE TABLE inbound_activities (
    id bigint PRIMARY KEY,
    account_id bigint NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    uri text NOT NULL,
    -- As it came; JSON that Postgres would not take (a NUL in a string) is no reason to lose it.
    document text,
    received_at timestamptz NOT NULL,
    due_at timestamptz NOT NULL,
    tries integer NOT NULL DEFAULT 0,
    -- Null while it waits; then 'done', or why nothing came of it.
    outcome text,
    UNIQUE (account_id, uri)
  )`,
  `CREATE INDEX inbound_activities_waiting ON inbound_activities (account_id, id) WHERE outcome IS NULL`,
  `CREATE INDEX inbound_activities_due ON inbound_activities (due_at) WHERE outcome IS NULL`,
  `CREATE INDEX inbound_activities_received ON inbound_activities USING brin (received_at)`
]

export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
})
