import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Policies for the automated deletion of old posts. */
export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE post_cleanups (
    account_id bigint PRIMARY KEY REFERENCES accounts (id) ON DELETE CASCADE,
    enabled boolean NOT NULL,
    min_age_days integer NOT NULL,
    keep_direct boolean NOT NULL,
    keep_pinned boolean NOT NULL,
    keep_polls boolean NOT NULL,
    keep_media boolean NOT NULL,
    keep_own_favourites boolean NOT NULL,
    keep_own_bookmarks boolean NOT NULL,
    min_favourites integer,
    min_reblogs integer,
    -- Id of the last post that the current pass has looked at; 0 at its beginning.
    examined_id bigint NOT NULL DEFAULT 0
  )`
  yield* sql`COMMENT ON TABLE post_cleanups IS 'Policies of users for the automated deletion of their old posts.'`
})
