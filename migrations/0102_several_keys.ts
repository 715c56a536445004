import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * Lets a local actor have several keys. Keys that come from another server keep their ids, which other servers have
 * cached: `fragment` is the part of the id after the actor's.
 */
export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE signing_keys ADD COLUMN fragment text NOT NULL DEFAULT 'main-key',
    DROP CONSTRAINT signing_keys_pkey, ADD PRIMARY KEY (owner_id, fragment)`
})
