import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import type { AccountId } from "../../Ids.ts"
import { rowsOf, Timestamptz } from "../../Rows.ts"
import { traced } from "../../Traced.ts"
import { batched } from "../../TransactionBatch.ts"
import { inboundMillisMin } from "./InboundActivities.ts"

/** Order of an activity among its sender's: second of its signature, in milliseconds since 1970, then order of arrival. */
export interface Order {
  readonly signed: number
  /** Counts up in the order in which activities came in. */
  readonly place: bigint
}

/** An Undo, by its order; `awaited` where the activity that it undoes did not come yet. */
interface Undone {
  readonly by: Order
  readonly awaited: boolean
}

interface Id {
  readonly accountId: AccountId
  readonly uri: string
}

const Tombstone = Schema.Struct({
  deletedAt: Timestamptz,
  /** Null where it was deleted. */
  undoneAt: Schema.NullOr(Timestamptz),
  /** Null for an Undo that was stored without it. */
  undonePlace: Schema.NullOr(Schema.BigInt),
  awaited: Schema.Boolean
})
type Tombstone = typeof Tombstone.Type
const tombstoneRows = rowsOf(Schema.Struct({ ...Tombstone.fields, place: Schema.Int }))

/** Ids of remote accounts that they deleted or undid; always inside the transaction of the account's actor. */
export class Tombstones extends Context.Service<Tombstones, {
  /** An id of the account's that must not come back, known or not (row 10); for an Undo, unless it is signed later. */
  readonly bury: (accountId: AccountId, uri: string, undo?: Undone) => Effect.Effect<void, SqlError>
  /**
   * Whether the account deleted or undid the id lately, as long as activities are kept (`InboundActivities`). An
   * activity after its Undo, by `Order`, is new (`RepeatedActivities`); but an Undo that came before its activity stands for
   * the next one. That may have been tried again, and signed, later.
   */
  readonly stands: (accountId: AccountId, uri: string, order: Order) => Effect.Effect<boolean, SqlError>
}>()("murmuration/services/federation/inbox/Tombstones") {
  static readonly layer = Layer.effect(
    Tombstones,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const find = batched((ids: ReadonlyArray<Id>) =>
        Effect.map(
          tombstoneRows(sql`SELECT t.deleted_at, t.undone_at, t.undone_place, t.awaited, id.place::int
            FROM unnest(${ids.map(({ accountId }) => accountId)}::bigint[], ${ids.map(({ uri }) => uri)}::text[])
              WITH ORDINALITY AS id (account_id, uri, place)
            JOIN tombstones t ON t.uri = id.uri AND t.account_id = id.account_id`),
          (rows) => {
            const found = new Map(rows.map((row) => [row.place - 1, row]))
            return (_: Id, place: number): Tombstone | undefined => found.get(place)
          }
        )
      )

      return Tombstones.of({
        bury: traced("Tombstones.bury")(function*(accountId, uri, undo) {
          const at = new Date(yield* Clock.currentTimeMillis)
          const undoneAt = undo === undefined ? null : new Date(undo.by.signed)
          // A deletion stays; of several Undos the last one counts.
          yield* sql`INSERT INTO tombstones AS t (uri, account_id, deleted_at, undone_at, undone_place, awaited)
            VALUES (${uri}, ${accountId}, ${at}, ${undoneAt}, ${undo?.by.place ?? null}::bigint, ${
            undo?.awaited === true
          })
            ON CONFLICT (uri, account_id) DO UPDATE SET deleted_at = excluded.deleted_at, awaited = excluded.awaited,
              undone_place = CASE WHEN t.undone_at > excluded.undone_at THEN t.undone_place ELSE excluded.undone_place END,
              undone_at = CASE WHEN t.undone_at IS NULL OR excluded.undone_at IS NULL THEN NULL
                ELSE greatest(t.undone_at, excluded.undone_at) END`
        }),
        stands: traced("Tombstones.stands")(function*(accountId, uri, { place, signed }) {
          const found = yield* find({ accountId, uri })
          const since = (yield* Clock.currentTimeMillis) - inboundMillisMin
          if (found === undefined || found.deletedAt.getTime() < since) return false
          const { awaited, undoneAt, undonePlace } = found
          if (awaited) {
            yield* sql`UPDATE tombstones SET awaited = false, undone_at = greatest(undone_at, ${new Date(signed)})
              WHERE account_id = ${accountId} AND uri = ${uri}`
          }
          if (awaited || undoneAt === null || signed < undoneAt.getTime()) return true
          return signed === undoneAt.getTime() && undonePlace !== null && place < undonePlace
        })
      })
    })
  )
}
