import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import * as Counters from "../database/Counters.ts"
import { rowsOf } from "../database/Rows.ts"
import { batched } from "../database/TransactionBatch.ts"
import * as RowChanges from "../events/RowChanges.ts"
import { RecordNotFound } from "../runtime/Errors.ts"
import { traced } from "../runtime/Traced.ts"
import { defaultColumns, insertion, newRows, type NewStatus, update } from "./StatusRows.ts"
import type { Visibility } from "./Visibility.ts"

const placedRows = rowsOf(Schema.Struct({ id: Schema.BigInt, place: Schema.Int }))
const removedRows = rowsOf(Schema.Struct({ id: Schema.BigInt, accountId: Schema.BigInt }))

/** A new boost. `millis` is its time, in milliseconds since 1970; `uri` is its id if remote, otherwise null. */
interface NewReblog {
  readonly accountId: bigint
  readonly original: bigint
  readonly visibility: Visibility
  readonly millis: number
  readonly uri: string | null
  /** From an archive. */
  readonly imported?: boolean
}

const rowOf = ({ accountId, imported = false, millis, original, uri, visibility }: NewReblog): NewStatus => ({
  ...defaultColumns,
  accountId,
  imported,
  local: uri === null,
  uri,
  visibility,
  reblogOfId: original,
  createdAt: new Date(millis)
})

/** Boosts: statuses that refer to an original, at most one for each account and original. */
export class Reblogs extends Context.Service<Reblogs, {
  /** Returns the account's boost of `original`, if any. */
  readonly find: (accountId: bigint, original: bigint) => Effect.Effect<bigint | undefined, SqlError>
  /**
   * Writes a boost and returns its id; fails with `RecordNotFound` if the original was deleted in the meantime. Locks
   * the original until the transaction ends, so that its deletion finds this boost.
   */
  readonly insert: (reblog: NewReblog) => Effect.Effect<bigint, RecordNotFound | SqlError>
  /** Deletes at most `limit` boosts of a deleted status, with ids above `cursor`; returns their ids. */
  readonly removeAll: (
    original: bigint,
    cursor: bigint,
    limit: number,
    millis: number
  ) => Effect.Effect<ReadonlyArray<bigint>, SqlError>
}>()("murmuration/services/statuses/Reblogs") {
  static readonly layer = Layer.effect(
    Reblogs,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const tracked = yield* RowChanges.make

      const find = batched((pairs: ReadonlyArray<Pick<NewReblog, "accountId" | "original">>) =>
        Effect.map(
          placedRows(sql`SELECT s.id, pair.place::int FROM unnest(
              ${pairs.map(({ accountId }) => accountId)}::bigint[], ${pairs.map(({ original }) => original)}::bigint[])
              WITH ORDINALITY AS pair (account_id, original, place)
            JOIN statuses s ON s.account_id = pair.account_id AND s.reblog_of_id = pair.original AND s.deleted_at IS NULL`),
          (rows) => {
            const ids = new Map(rows.map(({ id, place }) => [place - 1, id]))
            return (_, place: number) => ids.get(place)
          }
        )
      )
      const insert = batched((all: ReadonlyArray<NewReblog>) =>
        Effect.map(
          placedRows(sql`
            WITH ${newRows(sql, all.map(rowOf))},
            standing AS MATERIALIZED (SELECT id, conversation_id, local_only FROM statuses
              WHERE id = ANY (${
            all.map(({ original }) => original)
          }::bigint[]) AND deleted_at IS NULL ORDER BY id FOR SHARE),
            made AS (${
            insertion(sql, sql` JOIN standing o ON o.id = fresh.reblog_of_id`, {
              conversationId: sql`o.conversation_id`,
              localOnly: sql`o.local_only`
            })
          } RETURNING id),
            stats AS (INSERT INTO status_stats (status_id) SELECT id FROM made)
            SELECT id, place::int FROM fresh JOIN made USING (id)`),
          (rows) => {
            const ids = new Map(rows.map(({ id, place }) => [place - 1, id]))
            return (_: NewReblog, place: number) => ids.get(place)
          }
        ), "writes")

      return Reblogs.of({
        find: traced("Reblogs.find")((accountId, original) => find({ accountId, original })),
        insert: traced("Reblogs.insert")(function*(reblog) {
          const { accountId, millis, original } = reblog
          const id = yield* insert(reblog)
          if (id === undefined) return yield* new RecordNotFound()
          yield* Counters.count(
            { sql, tracked },
            [{ accountId, statuses: 1 }],
            [{ statusId: original, reblogs: 1 }],
            new Date(millis)
          )
          return id
        }),
        removeAll: traced("Reblogs.removeAll")(function*(original, cursor, limit, millis) {
          // Locked before the update: one that its account undoes concurrently is waited for, and then skipped.
          const rows = yield* tracked(
            "status",
            (rows: ReadonlyArray<{ readonly id: bigint }>) => rows.map(({ id }) => id)
          )(removedRows(sql`
            WITH standing AS MATERIALIZED (
              SELECT id FROM statuses WHERE reblog_of_id = ${original} AND deleted_at IS NULL AND id > ${cursor}
              ORDER BY id LIMIT ${limit} FOR NO KEY UPDATE)
            ${update(sql, { deletedAt: new Date(millis) })} FROM standing WHERE statuses.id = standing.id
            RETURNING statuses.id, account_id`))
          yield* Counters.count(
            { sql, tracked },
            rows.map(({ accountId }) => ({ accountId, statuses: -1 })),
            rows.length === 0 ? [] : [{ statusId: original, reblogs: -rows.length }]
          )
          return rows.map(({ id }) => id).sort((a, b) => a < b ? -1 : 1)
        })
      })
    })
  )
}
