import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * Remote files are served under a key derived from their URL (160 bits of SHA-256), by which the rows that name them are
 * found. A URL that no row names has no key here.
 */
const indexed = [
  ["media_attachments", "remote_url", "remote_url IS NOT NULL"],
  ["media_attachments", "preview_remote_url", "preview_remote_url IS NOT NULL"],
  ["accounts", "avatar_remote_url", "avatar_remote_url IS NOT NULL"],
  ["accounts", "header_remote_url", "header_remote_url IS NOT NULL"],
  ["custom_emojis", "url", "domain IS NOT NULL"],
  ["custom_emojis", "static_url", "domain IS NOT NULL"]
]

const statements = [
  `CREATE FUNCTION remote_key(address text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
     AS $$ SELECT left(encode(sha256(convert_to(address, 'UTF8')), 'hex'), 40) $$`,
  ...indexed.map(([table, column, condition]) =>
    `CREATE INDEX ${table}_${column}_key ON ${table} (remote_key(${column})) WHERE ${condition}`
  )
]

export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
})
