import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Annual reports of accounts; without `data` the report is still to be computed. */
const statements = [
  `CREATE TABLE annual_reports (
    account_id bigint NOT NULL REFERENCES users (account_id) ON DELETE CASCADE,
    year integer NOT NULL,
    data jsonb,
    created_at timestamptz NOT NULL,
    viewed_at timestamptz,
    PRIMARY KEY (account_id, year)
  )`,
  `CREATE INDEX annual_reports_waiting ON annual_reports (created_at) WHERE data IS NULL`
]

export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
})
