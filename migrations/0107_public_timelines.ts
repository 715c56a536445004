import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Public timelines omit imported posts, and do not read past them. */
export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`DROP INDEX statuses_public`
  yield* sql`CREATE INDEX statuses_public ON statuses (id DESC)
    WHERE visibility = 'public' AND deleted_at IS NULL AND reblog_of_id IS NULL AND NOT imported`
})
