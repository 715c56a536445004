import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * Removes apps that no user ever authorized without a scan of all posts: a post may name a deleted app, and shows none
 * then.
 */
export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE statuses DROP CONSTRAINT statuses_application_id_fkey`
  // Time at which a user first got a token of the app.
  yield* sql`ALTER TABLE oauth_apps ADD COLUMN authorized_at timestamptz`
  yield* sql`UPDATE oauth_apps a SET authorized_at = a.created_at
    WHERE EXISTS (SELECT FROM oauth_tokens t WHERE t.app_id = a.id AND t.account_id IS NOT NULL)
      OR a.id IN (SELECT application_id FROM statuses WHERE application_id IS NOT NULL)`
})
