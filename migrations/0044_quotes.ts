import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Quotes with their approval, and interaction policies of statuses. */
const statements = [
  `ALTER TABLE statuses ADD COLUMN interaction_policy text[]`,
  `ALTER TABLE status_stats ADD COLUMN quotes_count integer NOT NULL DEFAULT 0`,
  `CREATE TABLE quotes (
    status_id bigint PRIMARY KEY REFERENCES statuses (id) ON DELETE CASCADE,
    account_id bigint NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    -- Null while the quoted status is unknown here, and after it is deleted.
    quoted_status_id bigint REFERENCES statuses (id) ON DELETE SET NULL,
    quoted_account_id bigint REFERENCES accounts (id) ON DELETE SET NULL,
    -- Id of a quoted status that is unknown here.
    quoted_uri text,
    state text NOT NULL CHECK (state IN ('pending', 'accepted', 'rejected', 'revoked')),
    -- The author's server does not support approval of quotes.
    legacy boolean NOT NULL DEFAULT false,
    -- Id of the QuoteRequest from another server.
    request_uri text,
    -- Id of the authorization that another server gave.
    authorization_uri text,
    created_at timestamptz NOT NULL
  )`,
  `CREATE INDEX quotes_quoted ON quotes (quoted_status_id, status_id) WHERE quoted_status_id IS NOT NULL`,
  `CREATE INDEX quotes_quoted_account ON quotes (quoted_account_id, account_id) WHERE quoted_account_id IS NOT NULL`,
  `CREATE INDEX quotes_account ON quotes (account_id)`,
  `CREATE INDEX quotes_uri ON quotes (quoted_uri) WHERE quoted_uri IS NOT NULL`,
  `CREATE INDEX quotes_authorization ON quotes (authorization_uri) WHERE authorization_uri IS NOT NULL`
]

export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
})
