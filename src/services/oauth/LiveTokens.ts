import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { TokenId } from "../database/Ids.ts"
import { idRows } from "../database/Rows.ts"
import { traced } from "../runtime/Traced.ts"
import { userState } from "./Tokens.ts"

/** Maximum tokens per query. */
const askedTokensMax = 1_000

/** Checks tokens in Postgres, never in a cache (security row 70). */
export class LiveTokens extends Context.Service<LiveTokens, {
  /**
   * Returns the tokens that are not revoked and whose users may use the API, with one query per `askedTokensMax`
   * tokens.
   */
  readonly filterLive: (tokenIds: ReadonlyArray<TokenId>) => Effect.Effect<ReadonlySet<bigint>>
}>()("murmuration/services/oauth/LiveTokens") {
  static readonly layer = Layer.effect(
    LiveTokens,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient

      const filterLive = traced("LiveTokens.filterLive")(function*(tokenIds: ReadonlyArray<TokenId>) {
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
      return LiveTokens.of({ filterLive })
    })
  )
}
