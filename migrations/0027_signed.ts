import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * Remote servers reuse ids (`services/federation/inbox/RepeatedActivities.ts`): an activity is known by id and content, and its
 * signature date orders it. Both are unknown for earlier rows.
 */
const statements = [
  `ALTER TABLE inbound_activities ADD COLUMN signed_at timestamptz, ADD COLUMN digest bigint NOT NULL DEFAULT 0`,
  `CREATE UNIQUE INDEX inbound_activities_known ON inbound_activities (account_id, uri, digest)`,
  `ALTER TABLE inbound_activities DROP CONSTRAINT inbound_activities_account_id_uri_key`,
  // Signature date of the Undo that buried the id; null where the post was deleted, which nothing reverts. `awaited` is set
  // where the Undo arrived before its target.
  `ALTER TABLE tombstones ADD COLUMN undone_at timestamptz, ADD COLUMN awaited boolean NOT NULL DEFAULT false`
]

export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
})
