import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * Identities have the issuer as it is configured, a URL. The documents of some providers, such as Google's, spell an
 * issuer without a path and without the slash at its end.
 */
export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`DELETE FROM identities old USING identities known
    WHERE old.issuer ~ '^https?://[^/]+$' AND known.issuer = old.issuer || '/'
      AND (known.account_id = old.account_id OR known.subject = old.subject)`
  yield* sql`UPDATE identities SET issuer = issuer || '/' WHERE issuer ~ '^https?://[^/]+$'`
})
