import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Polls, at most one per status and with its id; `counts` has the votes for each of `options`. */
const statements = [
  `CREATE TABLE polls (
    status_id bigint PRIMARY KEY REFERENCES statuses (id) ON DELETE CASCADE,
    options text[] NOT NULL,
    counts integer[] NOT NULL,
    -- Null where the poll's server does not state the number of voters.
    voters_count integer DEFAULT 0,
    multiple boolean NOT NULL,
    -- Hides the counts until the poll ends.
    hide_totals boolean NOT NULL,
    expires_at timestamptz
  ) WITH (fillfactor = 70)`,
  `CREATE TABLE poll_votes (
    status_id bigint NOT NULL REFERENCES polls (status_id) ON DELETE CASCADE,
    account_id bigint NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    choice integer NOT NULL,
    PRIMARY KEY (status_id, account_id, choice)
  )`,
  `CREATE INDEX poll_votes_account ON poll_votes (account_id, status_id)`,
  `ALTER TABLE status_edits ADD COLUMN poll_options text[]`
]

export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
})
