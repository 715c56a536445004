import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** What is fetched from other servers. */
const statements = [
  // People paste the addresses of pages.
  `CREATE INDEX statuses_url ON statuses (url) WHERE url IS NOT NULL`
]

export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
})
