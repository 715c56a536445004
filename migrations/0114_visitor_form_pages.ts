import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Pages that responded to forms of visitors, and the headers of all such pages. */
export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE form_pages ADD COLUMN headers jsonb NOT NULL DEFAULT '{}'`
  yield* sql`CREATE TABLE visitor_form_pages (
    browser_hash bytea NOT NULL,
    id text NOT NULL,
    page text NOT NULL,
    headers jsonb NOT NULL,
    created_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    PRIMARY KEY (browser_hash, id)
  )`
  yield* sql`CREATE INDEX visitor_form_pages_by_end ON visitor_form_pages (expires_at)`
  yield* sql`COMMENT ON TABLE visitor_form_pages IS
    'Pages that responded to forms of visitors without a session, for 15 minutes, by the hash of their browser''s cookie.'`
})
