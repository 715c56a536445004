import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Ids of threads, posts and blocks that other servers know from before an account came here. */
const statements = [
  `ALTER TABLE blocks ADD COLUMN uri text`,
  `CREATE TABLE conversations (
    id bigint PRIMARY KEY,
    uri text NOT NULL,
    -- First post of a thread that began here.
    root_id bigint
  )`,
  `COMMENT ON TABLE conversations IS 'Threads that have ids from another server; all others are named by their first post.'`,
  `CREATE TABLE status_aliases (
    uri text PRIMARY KEY,
    status_id bigint NOT NULL REFERENCES statuses (id) ON DELETE CASCADE
  )`,
  `CREATE INDEX status_aliases_status ON status_aliases (status_id)`,
  `COMMENT ON TABLE status_aliases IS 'Further ids of local posts, by which other servers reply to them.'`
]

export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
})
