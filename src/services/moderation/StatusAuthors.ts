import { Array as Arr, Context, Effect, Layer, type Option } from "effect"
import { SqlClient } from "effect/sql"
import type { AccountId } from "../database/Ids.ts"
import { accountIdRows } from "../database/Rows.ts"
import { traced } from "../runtime/Traced.ts"

/** Finds the author of a post, regardless of its visibility. */
export class StatusAuthors extends Context.Service<StatusAuthors, {
  readonly of: (statusId: bigint) => Effect.Effect<Option.Option<AccountId>>
}>()("murmuration/services/moderation/StatusAuthors") {
  static readonly layer = Layer.effect(
    StatusAuthors,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      return StatusAuthors.of({
        of: traced("StatusAuthors.of")(
          (statusId) =>
            Effect.map(
              accountIdRows(sql`SELECT account_id FROM statuses WHERE id = ${statusId}`),
              (rows) => Arr.head(rows.map(({ accountId }) => accountId))
            ),
          Effect.orDie
        )
      })
    })
  )
}
