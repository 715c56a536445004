import { Effect } from "effect"
import { SqlClient } from "effect/sql"

const statements = [
  // Aliases of a local account (actor ids); those of remote accounts are with their URLs.
  `ALTER TABLE accounts ADD COLUMN also_known_as text[] NOT NULL DEFAULT '{}'`,
  // Target of a remote account's move according to its document, known here or not.
  `ALTER TABLE remote_actors ADD COLUMN moved_to text`,
  // Last move of an account: target, time, and number of followers told to follow.
  `CREATE TABLE moves (
    account_id bigint PRIMARY KEY REFERENCES accounts (id) ON DELETE CASCADE,
    target_uri text NOT NULL,
    moved_at timestamptz,
    handed_over integer NOT NULL DEFAULT 0
  )`
]

export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
})
