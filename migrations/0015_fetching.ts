import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** What is fetched from other servers. */
const statements = [
  // People paste the addresses of pages.
  `CREATE INDEX statuses_url ON statuses (url) WHERE url IS NOT NULL`,
  // Ids of what remote accounts did here; the target is the account, or the status of a Like.
  `CREATE TABLE undoable_activities (
    account_id bigint NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    uri text NOT NULL,
    type text NOT NULL,
    target_id bigint NOT NULL,
    PRIMARY KEY (account_id, uri)
  )`
]

export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
})
