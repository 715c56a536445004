import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import type { AccountId } from "../../database/Ids.ts"
import { rowsOf, Timestamptz } from "../../database/Rows.ts"
import { batched } from "../../database/TransactionBatch.ts"
import { traced } from "../../runtime/Traced.ts"
import { inboundMillisMin } from "./InboundActivities.ts"

/** Order of a sender's activities: by the second of signing, in milliseconds since 1970, then by arrival. */
export interface Order {
  readonly signed: number
  /** Increases with each activity that arrives. */
  readonly place: bigint
}

/** Undo with its order; `awaited` if its activity has not arrived yet. */
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
  /** Null for a deletion. */
  undoneAt: Schema.NullOr(Timestamptz),
  /** Null if the Undo was stored without it. */
  undonePlace: Schema.NullOr(Schema.BigInt),
  awaited: Schema.Boolean
})
type Tombstone = typeof Tombstone.Type
const tombstoneRows = rowsOf(Schema.Struct({ ...Tombstone.fields, place: Schema.Int }))

/** Ids that remote accounts deleted or undid; use only in the transaction of the account's actor. */
export class Tombstones extends Context.Service<Tombstones, {
  /**
   * Marks one of the account's ids, known or not, as deleted (row 10) or undone. An undone id counts again if it is
   * signed later.
   */
  readonly record: (accountId: AccountId, uri: string, undo?: Undone) => Effect.Effect<void, SqlError>
  /**
   * Returns true if the account deleted or undid the id, for as long as activities are kept (`InboundActivities`). An
   * activity after its Undo, by `Order`, is new (`RepeatedActivities`). An Undo that came before its activity applies
   * to the next one, which may be a retry with a later signature.
   */
  readonly isInForce: (accountId: AccountId, uri: string, order: Order) => Effect.Effect<boolean, SqlError>
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
        record: traced("Tombstones.record")(function*(accountId, uri, undo) {
          const at = new Date(yield* Clock.currentTimeMillis)
          const undoneAt = undo === undefined ? null : new Date(undo.by.signed)
          // A deletion is permanent; the latest of several Undos counts.
          yield* sql`INSERT INTO tombstones AS t (uri, account_id, deleted_at, undone_at, undone_place, awaited)
            VALUES (${uri}, ${accountId}, ${at}, ${undoneAt}, ${undo?.by.place ?? null}::bigint, ${
            undo?.awaited === true
          })
            ON CONFLICT (uri, account_id) DO UPDATE SET deleted_at = excluded.deleted_at, awaited = excluded.awaited,
              undone_place = CASE WHEN t.undone_at > excluded.undone_at THEN t.undone_place ELSE excluded.undone_place END,
              undone_at = CASE WHEN t.undone_at IS NULL OR excluded.undone_at IS NULL THEN NULL
                ELSE greatest(t.undone_at, excluded.undone_at) END`
        }),
        isInForce: traced("Tombstones.isInForce")(function*(accountId, uri, { place, signed }) {
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
