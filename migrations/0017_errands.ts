import { Effect } from "effect"
import { SqlClient } from "effect/sql"

const statements = [
  // What waits for other hosts, by its subject: whichever node has a hand free moves it on and does it.
  `CREATE TABLE errands (
    kind text NOT NULL,
    subject_id bigint NOT NULL,
    due_at timestamptz NOT NULL,
    tries integer NOT NULL DEFAULT 0,
    PRIMARY KEY (kind, subject_id)
  )`,
  `CREATE INDEX errands_due ON errands (due_at)`,
  // Remote accounts that are gone, with the keys that they had (row 11).
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
