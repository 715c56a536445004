import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Followers of an account at its last move, so that its owner sees who came along. */
export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE move_followers (
    account_id bigint NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    follower_id bigint NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    PRIMARY KEY (account_id, follower_id)
  )`
  yield* sql`CREATE INDEX move_followers_by_follower ON move_followers (follower_id)`
  yield* sql`ALTER TABLE moves ADD COLUMN recorded_followers integer`
  yield* sql`COMMENT ON TABLE move_followers IS 'Known followers of an account at its last move from or to this server.'`
  yield* sql`COMMENT ON COLUMN moves.recorded_followers IS
    'Number of rows in move_followers; null until all are written, and for moves of older versions.'`
})
