import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Hashtags that accounts feature on their profiles. Counts are as of `counted_at`; null: not counted yet. */
export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE featured_tags (
    id bigint PRIMARY KEY,
    account_id bigint NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    tag_id bigint NOT NULL REFERENCES tags (id) ON DELETE CASCADE,
    -- As the account spells it.
    name text NOT NULL,
    statuses_count integer NOT NULL DEFAULT 0,
    last_status_at timestamptz,
    counted_at timestamptz,
    UNIQUE (account_id, tag_id)
  )`
})
