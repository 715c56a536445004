import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Followed hashtags, whose public posts appear in home. */
export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE tag_follows (
    id bigint PRIMARY KEY,
    account_id bigint NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    tag_id bigint NOT NULL REFERENCES tags (id) ON DELETE CASCADE,
    UNIQUE (account_id, tag_id)
  )`
  yield* sql`CREATE INDEX tag_follows_tag ON tag_follows (tag_id, id) INCLUDE (account_id)`
  yield* sql`CREATE INDEX tag_follows_account ON tag_follows (account_id, id)`
})
