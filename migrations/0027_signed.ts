import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * Others use ids again (`services/federation/inbox/Repeats.ts`): an activity is known by its id and by what it says, and when it was
 * signed tells the later one from the earlier. Of what came before, both is unknown.
 */
const statements = [
  `ALTER TABLE inbound_activities ADD COLUMN signed_at timestamptz, ADD COLUMN digest bigint NOT NULL DEFAULT 0`,
  `CREATE UNIQUE INDEX inbound_activities_known ON inbound_activities (account_id, uri, digest)`,
  `ALTER TABLE inbound_activities DROP CONSTRAINT inbound_activities_account_id_uri_key`,
  // When the Undo was signed that buried the id; null where its post was deleted, which nothing takes back. It is awaited
  // where it was undone before it came.
  `ALTER TABLE tombstones ADD COLUMN undone_at timestamptz, ADD COLUMN awaited boolean NOT NULL DEFAULT false`
]

export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
})
