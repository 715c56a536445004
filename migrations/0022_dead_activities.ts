import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Failed activities are few and looked up every few seconds. */
export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE INDEX inbound_activities_dead ON inbound_activities (id) WHERE outcome LIKE 'set aside:%'`
})
