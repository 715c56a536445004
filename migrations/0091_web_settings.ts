import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Adds the settings of the web client; an empty object stands for the defaults. */
export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE users ADD COLUMN web_settings jsonb NOT NULL DEFAULT '{}'`
})
