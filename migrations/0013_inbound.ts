import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * Inbound activities. A row is written before the sender gets a response, and processed by the sender's actor. Processed
 * rows stay for a while without their document, so that a repeat has no second effect (row 78).
 */
const statements = [
  `CREATE TABLE inbound_activities (
    id bigint PRIMARY KEY,
    account_id bigint NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    uri text NOT NULL,
    -- Text as received: JSON that Postgres rejects (a NUL in a string) must not be lost.
    document text,
    received_at timestamptz NOT NULL,
    due_at timestamptz NOT NULL,
    tries integer NOT NULL DEFAULT 0,
    -- Null while it waits; then 'done' or the reason for dropping it.
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
