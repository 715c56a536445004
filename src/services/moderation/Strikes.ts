import { Clock, Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import type { AccountId } from "../database/Ids.ts"
import { idRows, rowsOf, singleRow } from "../database/Rows.ts"
import { traced } from "../runtime/Traced.ts"
import { Strike, type StrikeAction } from "./Strike.ts"

const strikeRows = rowsOf(Strike)

/** A new strike, which the user may read and appeal. */
interface NewStrike {
  /** Null for the server itself. */
  readonly by: AccountId | null
  readonly target: AccountId
  readonly action: StrikeAction
  readonly text: string
  readonly statusIds: ReadonlyArray<bigint>
  readonly collections?: ReadonlyArray<{ readonly id: bigint; readonly name: string }>
  readonly reportId: bigint | null
}

/** Strikes against accounts, written in the transaction of their action. */
export class Strikes extends Context.Service<Strikes, {
  /** Adds a strike and returns its id. */
  readonly add: (strike: NewStrike) => Effect.Effect<bigint, SqlError>
  /** Loads strikes by id; an empty list runs no query. */
  readonly load: (ids: ReadonlyArray<bigint>) => Effect.Effect<ReadonlyMap<bigint, Strike>>
}>()("murmuration/services/moderation/Strikes") {
  static readonly layer = Layer.effect(
    Strikes,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      return Strikes.of({
        add: traced("Strikes.add")(function*({ action, by, collections = [], reportId, statusIds, target, text }) {
          const now = yield* Clock.currentTimeMillis
          const rows = yield* idRows(sql`INSERT INTO account_warnings
              (id, account_id, target_account_id, action, text, status_ids, collection_ids,
                collection_names, report_id, created_at)
            VALUES (next_id(${now}), ${by}, ${target}, ${action}, ${text}, ${statusIds}::bigint[],
              ${collections.map(({ id }) => id)}::bigint[], ${collections.map(({ name }) => name)}::text[], ${reportId},
              ${new Date(now)}) RETURNING id`)
          return singleRow(rows).id
        }),
        load: traced("Strikes.load")(function*(ids) {
          if (ids.length === 0) return new Map<bigint, Strike>()
          const rows = yield* strikeRows(
            sql`SELECT w.id, w.target_account_id, w.action, w.text, w.status_ids, w.collection_names, w.created_at,
              w.overruled_at, p.text AS appeal_text, p.state AS appeal_state
            FROM account_warnings w LEFT JOIN appeals p ON p.account_warning_id = w.id WHERE w.id = ANY (${ids}::bigint[])`
          )
          return new Map(rows.map((row) => [row.id, row]))
        }, Effect.orDie)
      })
    })
  )
}
