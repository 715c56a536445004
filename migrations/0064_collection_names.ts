import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Search of collections by words of their names. */
export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE INDEX collections_name ON collections USING gin (to_tsvector('simple', name))`
  yield* sql`CREATE INDEX collections_url ON collections (url) WHERE url IS NOT NULL`
})
