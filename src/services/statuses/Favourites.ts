import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import type { Fragment } from "effect/sql/Statement"
import * as Counters from "../database/Counters.ts"
import { rowsOf } from "../database/Rows.ts"
import { batched } from "../database/TransactionBatch.ts"
import * as RowChanges from "../events/RowChanges.ts"
import { traced } from "../runtime/Traced.ts"

const statusIdRows = rowsOf(Schema.Struct({ statusId: Schema.BigInt }))

const Favourite = Schema.Struct({ accountId: Schema.BigInt, statusId: Schema.BigInt })
type Favourite = typeof Favourite.Type
const favouriteRows = rowsOf(Favourite)
const nameOf = ({ accountId, statusId }: Favourite) => `${accountId} ${statusId}`

/** Favourites and pins, written in the transaction of the account. Booleans are true if a row changed. */
export class Favourites extends Context.Service<Favourites, {
  readonly add: (accountId: bigint, statusId: bigint) => Effect.Effect<boolean, SqlError>
  /** Like `add`, with a given id. */
  readonly addAs: (id: bigint, accountId: bigint, statusId: bigint) => Effect.Effect<boolean, SqlError>
  /** Like `add`, with a time that decides the place in the list, in milliseconds. */
  readonly addAt: (millis: number, accountId: bigint, statusId: bigint) => Effect.Effect<boolean, SqlError>
  readonly has: (accountId: bigint, statusId: bigint) => Effect.Effect<boolean, SqlError>
  readonly remove: (accountId: bigint, statusId: bigint) => Effect.Effect<boolean, SqlError>
  /** Pins a status above the others; with `place` (an id), above those with a smaller one. */
  readonly pin: (accountId: bigint, statusId: bigint, place?: bigint) => Effect.Effect<boolean, SqlError>
  readonly unpin: (accountId: bigint, statusId: bigint) => Effect.Effect<boolean, SqlError>
  readonly pinned: (accountId: bigint) => Effect.Effect<ReadonlyArray<bigint>, SqlError>
}>()("murmuration/services/statuses/Favourites") {
  static readonly layer = Layer.effect(
    Favourites,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const tracked = yield* RowChanges.make
      const add = batched(
        Effect.fnUntraced(function*(all: ReadonlyArray<Favourite>) {
          const rows = yield* favouriteRows(
            tracked("status", all.map(({ statusId }) => statusId))(
              sql`INSERT INTO favourites (id, account_id, status_id)
          SELECT next_id(${yield* Clock.currentTimeMillis}), f.* FROM unnest(
            ${all.map(({ accountId }) => accountId)}::bigint[], ${all.map(({ statusId }) => statusId)}::bigint[]) f
          ON CONFLICT DO NOTHING RETURNING account_id, status_id`
            )
          )
          const added = new Set(rows.map(nameOf))
          // The first of equal favourites is the new one.
          return (favourite: Favourite) => added.delete(nameOf(favourite))
        }),
        "writes"
      )
      const addWith = Effect.fnUntraced(function*(id: Fragment, accountId: bigint, statusId: bigint) {
        const added = yield* tracked("status", [statusId])(sql`INSERT INTO favourites (id, account_id, status_id)
          VALUES (${id}, ${accountId}, ${statusId}) ON CONFLICT DO NOTHING RETURNING id`)
        if (added.length > 0) yield* Counters.count({ sql, tracked }, [], [{ statusId, favourites: 1 }])
        return added.length > 0
      })
      return Favourites.of({
        add: traced("Favourites.add")(function*(accountId, statusId) {
          if (!(yield* add({ accountId, statusId }))) return false
          yield* Counters.count({ sql, tracked }, [], [{ statusId, favourites: 1 }])
          return true
        }),
        addAs: traced("Favourites.addAs")((id, accountId, statusId) =>
          addWith(sql`${id}::bigint`, accountId, statusId)
        ),
        addAt: traced("Favourites.addAt")((millis, accountId, statusId) =>
          addWith(sql`next_id(${millis})`, accountId, statusId)
        ),
        has: traced("Favourites.has")((accountId, statusId) =>
          Effect.map(
            sql`SELECT FROM favourites WHERE account_id = ${accountId} AND status_id = ${statusId}`,
            (rows) => rows.length > 0
          )
        ),
        remove: traced("Favourites.remove")(function*(accountId, statusId) {
          const removed = yield* tracked("status", [statusId])(sql`DELETE FROM favourites
            WHERE account_id = ${accountId} AND status_id = ${statusId} RETURNING id`)
          if (removed.length === 0) return false
          yield* Counters.count({ sql, tracked }, [], [{ statusId, favourites: -1 }])
          return true
        }),
        pin: traced("Favourites.pin")(function*(accountId, statusId, place) {
          const id = place === undefined ? sql`next_id(${yield* Clock.currentTimeMillis})` : sql`${place}::bigint`
          const added = yield* tracked("status", [statusId])(sql`INSERT INTO status_pins (id, account_id, status_id)
            VALUES (${id}, ${accountId}, ${statusId}) ON CONFLICT DO NOTHING RETURNING id`)
          return added.length > 0
        }),
        unpin: traced("Favourites.unpin")(function*(accountId, statusId) {
          const removed = yield* tracked("status", [statusId])(sql`DELETE FROM status_pins
            WHERE account_id = ${accountId} AND status_id = ${statusId} RETURNING id`)
          return removed.length > 0
        }),
        pinned: traced("Favourites.pinned")(function*(accountId) {
          const rows = yield* statusIdRows(sql`SELECT status_id FROM status_pins WHERE account_id = ${accountId}`)
          return rows.map(({ statusId }) => statusId)
        })
      })
    })
  )
}
