import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { AccountId } from "../../database/Ids.ts"
import { boundedMap } from "../../runtime/BoundedMap.ts"
import { traced } from "../../runtime/Traced.ts"
import { recordReach } from "./Reaches.ts"

/** Maximum remembered readers. */
const notedMax = 20_000

/**
 * Servers that fetched a post: they have it although it was not sent to them, because of a boost or a search. Its edits
 * and its deletion are sent there, so that no server keeps it after it is deleted (I10).
 */
export class FetchedBy extends Context.Service<FetchedBy, {
  /** Records that a remote account, which signed the request, received the local post. */
  readonly record: (statusId: bigint, accountId: AccountId) => Effect.Effect<void>
}>()("murmuration/services/federation/outbox/FetchedBy") {
  static readonly layer = Layer.effect(
    FetchedBy,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const noted = boundedMap<string, true>(notedMax)

      return FetchedBy.of({
        record: traced("FetchedBy.record")(
          function*(statusId, accountId) {
            const key = `${statusId} ${accountId}`
            if (noted.has(key)) return
            // Waits for a concurrent deletion of the post, which then is not found.
            yield* recordReach(
              sql,
              sql`SELECT id FROM statuses WHERE id = ${statusId} AND local AND deleted_at IS NULL FOR SHARE`,
              accountId
            )
            noted.set(key, true)
          },
          Effect.orDie
        )
      })
    })
  )
}
