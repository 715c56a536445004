import { Effect } from "effect"
import { SqlClient } from "effect/sql"

const statements = [
  `CREATE TABLE media_redirects (
    path text PRIMARY KEY,
    name text NOT NULL REFERENCES stored_files (name) ON DELETE CASCADE
  )`,
  `CREATE INDEX media_redirects_by_name ON media_redirects (name)`,
  `COMMENT ON TABLE media_redirects IS 'Paths of files at the Mastodon server that was copied, and the files that they redirect to.'`
]

/** Paths of copied files, which other servers and feeds keep. */
export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
})
