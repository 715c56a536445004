import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * Ties an access token to a browser session: streams and push subscriptions of the web client belong to it, and end
 * with the session.
 */
export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE oauth_tokens ADD COLUMN session_hash bytea REFERENCES sessions (id_hash) ON DELETE CASCADE`
  yield* sql`CREATE UNIQUE INDEX oauth_tokens_session ON oauth_tokens (session_hash)
    WHERE session_hash IS NOT NULL AND revoked_at IS NULL`
  // Deletions of sessions look for all of their tokens, the revoked ones included.
  yield* sql`CREATE INDEX oauth_tokens_sessions ON oauth_tokens (session_hash) WHERE session_hash IS NOT NULL`
})
