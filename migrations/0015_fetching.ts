import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Data fetched from other servers. */
const statements = [
  // People paste URLs of pages.
  `CREATE INDEX statuses_url ON statuses (url) WHERE url IS NOT NULL`,
  // Ids of activities of remote accounts; the target is the account, or the status of a Like.
  `CREATE TABLE undoable_activities (
    account_id bigint NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    uri text NOT NULL,
    type text NOT NULL,
    target_id bigint NOT NULL,
    PRIMARY KEY (account_id, uri)
  )`,
  // Unknown parent of a status, linked as soon as it arrives.
  `ALTER TABLE statuses ADD COLUMN in_reply_to_uri text`,
  `CREATE INDEX statuses_waiting_for ON statuses (in_reply_to_uri) WHERE in_reply_to_uri IS NOT NULL`,
  // Time of the last remote lookup, so that lookups run once at a time and not too often.
  `CREATE TABLE look_ups (
    kind text NOT NULL,
    subject_id bigint NOT NULL,
    begun_at timestamptz NOT NULL,
    ended_at timestamptz,
    found integer NOT NULL DEFAULT 0,
    PRIMARY KEY (kind, subject_id)
  )`,
  `CREATE INDEX look_ups_begun ON look_ups (begun_at)`,
  // Totals as stated by the remote server; this server sees only a part.
  `ALTER TABLE account_stats ADD COLUMN stated_followers integer, ADD COLUMN stated_following integer,
    ADD COLUMN stated_statuses integer`,
  `ALTER TABLE status_stats ADD COLUMN stated_favourites integer, ADD COLUMN stated_reblogs integer`
]

export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
})
