import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { TokenId } from "../Ids.ts"
import { idRows } from "../Rows.ts"
import { traced } from "../Traced.ts"
import { userState } from "./Tokens.ts"

/** Tokens that one query asks for. */
const askedTokensMax = 1_000

/** Which tokens are still good, read from Postgres and never from a cache (security row 70). */
export class LiveTokens extends Context.Service<LiveTokens, {
  /** Those of the tokens that are not revoked and whose user may use the API; a query for each `askedTokensMax`. */
  readonly among: (tokenIds: ReadonlyArray<TokenId>) => Effect.Effect<ReadonlySet<bigint>>
}>()("murmuration/services/oauth/LiveTokens") {
  static readonly layer = Layer.effect(
    LiveTokens,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient

      const among = traced("LiveTokens.among")(function*(tokenIds: ReadonlyArray<TokenId>) {
        const live = new Set<bigint>()
        for (let start = 0; start < tokenIds.length; start += askedTokensMax) {
          const rows = yield* idRows(sql`
            SELECT t.id FROM oauth_tokens t
            LEFT JOIN users u ON u.account_id = t.account_id
            LEFT JOIN accounts a ON a.id = t.account_id
            WHERE t.id = ANY (${tokenIds.slice(start, start + askedTokensMax)}::bigint[])
              AND t.revoked_at IS NULL AND ${sql.literal(userState)} = 'active'`)
          for (const { id } of rows) live.add(id)
        }
        return live
      }, Effect.orDie)
      return LiveTokens.of({ among })
    })
  )
}
