import { Effect } from "effect"
import { SqlClient } from "effect/sql"

const statements = [
  // Work that waits for other servers, by subject; any free node takes it.
  `CREATE TABLE errands (
    kind text NOT NULL,
    subject_id bigint NOT NULL,
    due_at timestamptz NOT NULL,
    tries integer NOT NULL DEFAULT 0,
    PRIMARY KEY (kind, subject_id)
  )`,
  `CREATE INDEX errands_due ON errands (due_at)`,
  // Deleted remote accounts with the keys they had (row 11).
  `CREATE TABLE departed_actors (
    uri text PRIMARY KEY,
    public_pems text[] NOT NULL,
    departed_at timestamptz NOT NULL
  )`,
  `CREATE INDEX departed_actors_departed ON departed_actors (departed_at)`
]

export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
})
