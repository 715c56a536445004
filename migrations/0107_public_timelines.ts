import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * Public timelines omit imported posts, and do not read past them. The old index is dropped after the new one is built:
 * a build only makes writes wait, but a dropped index locks reads out until the commit.
 */
export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE INDEX statuses_public_posted ON statuses (id DESC)
    WHERE visibility = 'public' AND deleted_at IS NULL AND reblog_of_id IS NULL AND NOT imported`
  yield* sql`DROP INDEX statuses_public`
  yield* sql`ALTER INDEX statuses_public_posted RENAME TO statuses_public`
})
