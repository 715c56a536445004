import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Progress of copying another server's database, so that a copy goes on after a crash. */
const statements = [
  `CREATE TABLE transfer_cursors (
    step text PRIMARY KEY,
    cursor bigint NOT NULL DEFAULT 0,
    copied bigint NOT NULL DEFAULT 0,
    -- Time at the source when the step last began: rows that changed since are copied again.
    begun_at timestamptz NOT NULL,
    finished_at timestamptz
  )`,
  `COMMENT ON TABLE transfer_cursors IS 'Progress of copying a Mastodon database, one row a step.'`,
  `CREATE TABLE transfer_rejects (
    step text NOT NULL,
    row_id bigint NOT NULL,
    reason text NOT NULL,
    PRIMARY KEY (step, row_id)
  )`,
  `COMMENT ON TABLE transfer_rejects IS 'Rows of a Mastodon database that could not be copied, with the reason.'`
]

export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
})
