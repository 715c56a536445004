import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Pages that responded to forms, for the way back to them. */
export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE form_pages (
    session_hash bytea NOT NULL REFERENCES sessions (id_hash) ON DELETE CASCADE,
    id text NOT NULL,
    account_id bigint NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    page text NOT NULL,
    created_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    PRIMARY KEY (session_hash, id)
  )`
  yield* sql`CREATE INDEX form_pages_by_account ON form_pages (account_id)`
  yield* sql`COMMENT ON TABLE form_pages IS
    'Pages that responded to refused or unfinished forms of a session, for an hour, so that browsers can go back to them.'`
})
