import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import type { AccountId } from "../../database/Ids.ts"
import { rowsMax } from "../../database/Paging.ts"
import { idRows, rowsOf } from "../../database/Rows.ts"
import { atCommit } from "../../database/TransactionBatch.ts"
import * as RowChanges from "../../events/RowChanges.ts"
import { traced } from "../../runtime/Traced.ts"
import { update } from "../../statuses/StatusRows.ts"
import { typesWith } from "../documents/ActivityTypes.ts"
import { isBefore } from "./CountedIds.ts"

const boostRows = rowsOf(Schema.Struct({ uri: Schema.String, reblogOfId: Schema.BigInt }))

export const UndoableType = Schema.Literals(typesWith("undoable"))
export type UndoableType = typeof UndoableType.Type

/** Effect of an activity and its target: an account, the status of a Like, or the reaction. */
export const Undoable = Schema.Struct({ type: UndoableType, targetId: Schema.BigInt })
export type Undoable = typeof Undoable.Type

/** Activity that was not undone; `cameId` increases with each arrival. */
export const DoneActivity = Schema.Struct({
  ...Undoable.fields,
  uri: Schema.String,
  cameId: Schema.BigInt
})
export type DoneActivity = typeof DoneActivity.Type
const doneRows = rowsOf(DoneActivity)

/** Maximum characters of a stored activity id. */
const uriCharactersMax = 2_000
/** Maximum activities with the same effect that are read. */
export const sameMax = 100

/**
 * Ids of effective activities of remote accounts, for an Undo by id. Boosts are statuses with ids of their own; only
 * ids that a later boost of the same post replaced are stored here.
 */
export class Undoables extends Context.Service<Undoables, {
  /** Stores an activity's id. Without an id, or with one too long, only an Undo with the whole activity works. */
  readonly remember: (accountId: AccountId, uri: string | undefined, done: Undoable) => Effect.Effect<void, SqlError>
  /**
   * Gives an existing boost the id of its newest copy. The old id is kept, as a late Undo may name it. A late copy of
   * an earlier boost (`isBefore`) is only remembered.
   */
  readonly renew: (accountId: AccountId, boostId: bigint, uri: string) => Effect.Effect<void, SqlError>
  /** Frees the id of the account's boost for a later one; false if no boost has the id. */
  readonly release: (accountId: AccountId, uri: string) => Effect.Effect<boolean, SqlError>
  /** Removes and returns the account's activity with this id. */
  readonly take: (accountId: AccountId, uri: string) => Effect.Effect<DoneActivity | undefined, SqlError>
  /**
   * Returns activities with the same effect since `madeId`, an id made when the first of them arrived; newest first.
   */
  readonly same: (
    accountId: AccountId,
    done: Undoable,
    madeId: bigint
  ) => Effect.Effect<ReadonlyArray<DoneActivity>, SqlError>
}>()("murmuration/services/federation/inbox/Undoables") {
  static readonly layer = Layer.effect(
    Undoables,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const tracked = yield* RowChanges.make
      const remember = atCommit(
        Effect.fnUntraced(
          function*(all: ReadonlyArray<Undoable & { readonly accountId: AccountId; readonly uri: string }>) {
            // A statement must not write a row twice, so the last one counts.
            const rows = [...new Map(all.map((row) => [`${row.accountId} ${row.uri}`, row])).values()]
            yield* sql`INSERT INTO undoable_activities (account_id, uri, type, target_id, came_id)
          SELECT given.*, next_id(${yield* Clock.currentTimeMillis}) FROM unnest(${
              rows.map(({ accountId }) => accountId)
            }::bigint[], ${rows.map(({ uri }) => uri)}::text[],
            ${rows.map(({ type }) => type)}::text[], ${rows.map(({ targetId }) => targetId)}::bigint[]) AS given
          ON CONFLICT (account_id, uri) DO UPDATE SET type = excluded.type, target_id = excluded.target_id,
            came_id = excluded.came_id`
          }
        )
      )

      return Undoables.of({
        remember: traced("Undoables.remember")((accountId, uri, done) =>
          uri === undefined || uri.length > uriCharactersMax
            ? Effect.void
            : remember({ ...done, accountId, uri })
        ),
        renew: traced("Undoables.renew")(function*(accountId, boostId, uri) {
          const [old] = yield* boostRows(sql`SELECT uri, reblog_of_id FROM statuses
            WHERE id = ${boostId} AND account_id = ${accountId} AND uri <> ${uri}`)
          if (old === undefined) return
          const isLate = isBefore(uri, old.uri) === true
          yield* remember({ accountId, uri: isLate ? uri : old.uri, type: "Announce", targetId: old.reblogOfId })
          if (!isLate) yield* tracked("status", [boostId])(sql`${update(sql, { uri })} WHERE id = ${boostId}`)
        }),
        release: traced("Undoables.release")((accountId, uri) =>
          Effect.map(
            tracked("status", (rows: ReadonlyArray<{ readonly id: bigint }>) => rows.map(({ id }) => id))(
              idRows(sql`${update(sql, { uri: sql`uri || '#' || id` })} WHERE uri = ${uri} AND account_id = ${accountId}
              AND reblog_of_id IS NOT NULL RETURNING id`)
            ),
            (rows) => rows.length > 0
          )
        ),
        take: traced("Undoables.take")((accountId, uri) =>
          Effect.map(
            doneRows(sql`DELETE FROM undoable_activities WHERE account_id = ${accountId} AND uri = ${uri}
              RETURNING uri, type, target_id, came_id`),
            ([row]) => row
          )
        ),
        same: traced("Undoables.same")((accountId, { targetId, type }, madeId) =>
          doneRows(sql`SELECT uri, type, target_id, came_id FROM undoable_activities
            WHERE account_id = ${accountId} AND target_id = ${targetId} AND type = ${type} AND came_id > ${madeId}
            ORDER BY came_id DESC LIMIT ${rowsMax(sql, sameMax)}`)
        )
      })
    })
  )
}
