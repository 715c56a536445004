import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { boundedMap } from "../../BoundedMap.ts"
import type { AccountId } from "../../Ids.ts"
import { traced } from "../../Traced.ts"
import { given } from "./Reaches.ts"

/** Readers that are known to be noted. */
const notedMax = 20_000

/**
 * Servers that fetched a post: they have it although it was not sent to them, by a boost or because somebody looked for it.
 * Its edits and its end go there too, so that it is nowhere left when it is gone (I10).
 */
export class FetchedBy extends Context.Service<FetchedBy, {
  /** The account of another server, which signed for it, was given the local post. */
  readonly note: (statusId: bigint, accountId: AccountId) => Effect.Effect<void>
}>()("murmuration/services/federation/outbox/FetchedBy") {
  static readonly layer = Layer.effect(
    FetchedBy,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const noted = boundedMap<string, true>(notedMax)

      return FetchedBy.of({
        note: traced("FetchedBy.note")(
          function*(statusId, accountId) {
            const key = `${statusId} ${accountId}`
            if (noted.has(key)) return
            // A post that is being deleted meanwhile is waited for, and then not there.
            yield* given(
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
