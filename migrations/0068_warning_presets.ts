import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Saved messages for moderation actions. */
export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql.unsafe(`CREATE TABLE warning_presets (
    id bigint PRIMARY KEY,
    title text NOT NULL,
    text text NOT NULL,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL
  )`)
})
