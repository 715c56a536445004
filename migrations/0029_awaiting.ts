import { Effect } from "effect"
import { SqlClient } from "effect/sql"

const statements = [
  // Post that an activity waits for (`hashedKey` of its id); its arrival triggers a retry.
  `ALTER TABLE inbound_activities ADD COLUMN awaits text`,
  `CREATE INDEX inbound_activities_awaiting ON inbound_activities (awaits) WHERE awaits IS NOT NULL AND outcome IS NULL`,
  // Number of the account's last change of pins and hashtags: a collection read before it is stale.
  `ALTER TABLE remote_actors ADD COLUMN featured_changes integer NOT NULL DEFAULT 0`,
  // Several activities may do the same; a growing number (`next_id`) tells which came last, 0 for earlier rows.
  `ALTER TABLE undoable_activities ADD COLUMN came_id bigint NOT NULL DEFAULT 0`,
  `CREATE INDEX undoable_activities_target ON undoable_activities (account_id, target_id)`
]

export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
})
