import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { AccountId } from "../database/Ids.ts"
import { idRows } from "../database/Rows.ts"
import { transaction } from "../database/Transactions.ts"
import { RecordNotFound } from "../runtime/Errors.ts"
import { traced } from "../runtime/Traced.ts"
import { Favourites } from "./Favourites.ts"
import { visibleTo } from "./Visibility.ts"

/**
 * Favourites that were made at another server and are brought here. Nobody is notified and no Like is sent: the
 * author's server received one from the earlier account.
 */
export class ImportedFavourites extends Context.Service<ImportedFavourites, {
  /** Adds a favourite of a status that the account may see; repeating it changes nothing. */
  readonly add: (account: AccountId, statusId: bigint) => Effect.Effect<void, RecordNotFound>
  readonly remove: (account: AccountId, statusId: bigint) => Effect.Effect<void>
}>()("murmuration/services/statuses/ImportedFavourites") {
  static readonly layer = Layer.effect(
    ImportedFavourites,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const favourites = yield* Favourites
      return ImportedFavourites.of({
        add: traced("ImportedFavourites.add")(function*(account, statusId) {
          const [row] = yield* idRows(sql`SELECT coalesce(s.reblog_of_id, s.id) AS id FROM statuses s
            WHERE s.id = ${statusId} AND ${visibleTo(sql, account, "s")}`).pipe(Effect.orDie)
          if (row === undefined) return yield* new RecordNotFound()
          yield* Effect.orDie(transaction(sql)(favourites.add(account, row.id)))
        }),
        remove: traced("ImportedFavourites.remove")((account, statusId) =>
          Effect.orDie(Effect.asVoid(transaction(sql)(favourites.remove(account, statusId))))
        )
      })
    })
  ).pipe(Layer.provide(Favourites.layer))
}
