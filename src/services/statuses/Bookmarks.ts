import { Clock, Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { type AccountId } from "../database/Ids.ts"
import type { Page } from "../database/Paging.ts"
import { idRows } from "../database/Rows.ts"
import * as RowChanges from "../events/RowChanges.ts"
import { RecordNotFound } from "../runtime/Errors.ts"
import { traced } from "../runtime/Traced.ts"
import * as MarkedStatuses from "./MarkedStatuses.ts"
import { visibleTo } from "./Visibility.ts"

/**
 * Bookmarks are private: no other account sees them, so this service writes them outside of the owner's actor.
 * Bookmarking a boost bookmarks the original.
 */
export class Bookmarks extends Context.Service<Bookmarks, {
  /** Adds a bookmark; `millis` is the time that decides its place in the list, now by default. */
  readonly add: (account: AccountId, statusId: bigint, millis?: number) => Effect.Effect<void, RecordNotFound>
  /**
   * Removes a bookmark, even if the status is no longer visible (S-127); a status that was never bookmarked must be
   * visible.
   */
  readonly remove: (account: AccountId, statusId: bigint) => Effect.Effect<void, RecordNotFound>
  /** Returns bookmarks of statuses that the account may still see. */
  readonly page: (account: AccountId, page: Page) => Effect.Effect<ReadonlyArray<MarkedStatuses.MarkedStatus>>
}>()("murmuration/services/statuses/Bookmarks") {
  static readonly layer = Layer.effect(
    Bookmarks,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const tracked = yield* RowChanges.make
      const visible = Effect.fnUntraced(function*(account: AccountId, statusId: bigint) {
        const [row] = yield* idRows(sql`
          SELECT coalesce(s.reblog_of_id, s.id) AS id FROM statuses s
          WHERE s.id = ${statusId} AND ${visibleTo(sql, account, "s")}`).pipe(Effect.orDie)
        return row === undefined ? yield* new RecordNotFound() : row.id
      })

      const add = traced("Bookmarks.add")(function*(
        account: AccountId,
        statusId: bigint,
        millis?: number
      ) {
        const id = yield* visible(account, statusId)
        const now = millis ?? (yield* Clock.currentTimeMillis)
        yield* tracked("status", [id])(
          sql`INSERT INTO bookmarks (id, account_id, status_id) VALUES (next_id(${now}), ${account}, ${id})
          ON CONFLICT (account_id, status_id) DO NOTHING`
        ).pipe(Effect.orDie)
      })

      const take = (account: AccountId, id: bigint) =>
        Effect.map(
          tracked("status", [id])(
            sql`DELETE FROM bookmarks WHERE account_id = ${account} AND status_id = ${id} RETURNING id`
          ),
          (removed) => removed.length > 0
        ).pipe(Effect.orDie)

      const remove = traced("Bookmarks.remove")(function*(account: AccountId, statusId: bigint) {
        if (yield* take(account, statusId)) return
        const id = yield* visible(account, statusId)
        if (id !== statusId) yield* take(account, id)
      })

      return Bookmarks.of({
        add,
        remove,
        page: traced("Bookmarks.page")(MarkedStatuses.make(sql, "bookmarks"))
      })
    })
  )
}
