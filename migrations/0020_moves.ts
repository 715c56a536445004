import { Effect } from "effect"
import { SqlClient } from "effect/sql"

const statements = [
  // Ids of actors that a local account is as well; those of remote ones stand with their other addresses.
  `ALTER TABLE accounts ADD COLUMN also_known_as text[] NOT NULL DEFAULT '{}'`,
  // Where a remote account's document says that it moved to, known here or not.
  `ALTER TABLE remote_actors ADD COLUMN moved_to text`,
  // An account's last move: what it asked for, when it took place, and how many followers were told to go along.
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
