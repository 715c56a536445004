import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Whether search engines are asked to leave a profile out. */
export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE users ADD COLUMN noindex boolean NOT NULL DEFAULT false`
})
