import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * Lets local accounts that come from Mastodon keep their actor ids. Mastodon gives an account's ids by name (scheme 0)
 * or, since 4.5, by number (scheme 1). `a.actor_path` of a local account's row is the path of its actor's id.
 */
export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE accounts ADD COLUMN id_scheme smallint NOT NULL DEFAULT 0 CHECK (id_scheme IN (0, 1))`
  yield* sql`CREATE FUNCTION actor_path(account accounts) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE account.id_scheme WHEN 1 THEN '/ap/users/' || account.id ELSE '/users/' || account.username END $$`
})
