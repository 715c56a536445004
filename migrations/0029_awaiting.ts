import { Effect } from "effect"
import { SqlClient } from "effect/sql"

const statements = [
  // The post that an activity waits for (`hashedKey` of its id), whose coming has the activity tried again at once.
  `ALTER TABLE inbound_activities ADD COLUMN awaits text`,
  `CREATE INDEX inbound_activities_awaiting ON inbound_activities (awaits) WHERE awaits IS NOT NULL AND outcome IS NULL`,
  // What the account said of its profile's pins and hashtags, by number: what was read there before the last of it is not so any more.
  `ALTER TABLE remote_actors ADD COLUMN featured_changes integer NOT NULL DEFAULT 0`,
  // Several activities may have done the same; which came last is told by a number (`next_id`) that counts up, 0 where it came before this.
  `ALTER TABLE undoable_activities ADD COLUMN came_id bigint NOT NULL DEFAULT 0`,
  `CREATE INDEX undoable_activities_target ON undoable_activities (account_id, target_id)`
]

export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
})
