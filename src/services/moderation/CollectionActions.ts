import { Array as Arr, Context, Effect, Layer, type Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import type { AccountId } from "../database/Ids.ts"
import { accountIdRows, rowsOf } from "../database/Rows.ts"
import { traced } from "../runtime/Traced.ts"

const ReportedCollection = Schema.Struct({
  id: Schema.BigInt,
  name: Schema.String,
  local: Schema.Boolean,
  sensitive: Schema.Boolean,
  /** True if the owner deleted it; kept for moderators of a report. */
  gone: Schema.Boolean
})
export type ReportedCollection = typeof ReportedCollection.Type
const reportedRows = rowsOf(ReportedCollection)

/** Moderation actions on collections, in the transaction of a command of the owner's actor. */
export class CollectionActions extends Context.Service<CollectionActions, {
  /** Returns the owner, also of a deleted collection, so that a second moderator is told that it is gone. */
  readonly ownerOf: (id: bigint) => Effect.Effect<Option.Option<AccountId>>
  /** Returns those of the ids that the owner has, and locks them until the transaction ends. */
  readonly find: (
    owner: AccountId,
    ids: ReadonlyArray<bigint>
  ) => Effect.Effect<ReadonlyArray<ReportedCollection>, SqlError>
  /** Returns true if a moderator has removed one of the ids before. */
  readonly removedBefore: (owner: AccountId, ids: ReadonlyArray<bigint>) => Effect.Effect<boolean, SqlError>
  /** Removes a remote collection; later updates from its server do not restore it. */
  readonly removeRemote: (id: bigint) => Effect.Effect<void, SqlError>
  /** Sets a remote collection's sensitive mark, which later updates from its server do not change. */
  readonly markRemote: (id: bigint, sensitive: boolean) => Effect.Effect<void, SqlError>
}>()("murmuration/services/moderation/CollectionActions") {
  static readonly layer = Layer.effect(
    CollectionActions,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const decided = (id: bigint, removed: boolean) =>
        sql`INSERT INTO collection_decisions (uri, account_id, removed)
          SELECT uri, account_id, ${removed} FROM collections WHERE id = ${id} AND uri IS NOT NULL
          ON CONFLICT (uri) DO UPDATE SET removed = excluded.removed`
      return CollectionActions.of({
        ownerOf: traced("CollectionActions.ownerOf")(
          (id) =>
            Effect.map(
              accountIdRows(sql`SELECT account_id FROM collections WHERE id = ${id}
                UNION ALL SELECT account_id FROM kept_collections WHERE id = ${id}
                UNION ALL SELECT target_account_id FROM account_warnings
                  WHERE action = 'delete_statuses' AND ${id}::bigint = ANY (collection_ids)
                LIMIT 1`),
              (rows) => Arr.head(rows.map(({ accountId }) => accountId))
            ),
          Effect.orDie
        ),
        find: traced("CollectionActions.find")(function*(owner, ids) {
          if (ids.length === 0) return []
          const existing = yield* reportedRows(sql`SELECT id, name, local, sensitive, false AS gone FROM collections
            WHERE id = ANY (${ids}::bigint[]) AND account_id = ${owner} ORDER BY id FOR UPDATE`)
          const deleted = yield* reportedRows(sql`SELECT id, name, local, sensitive, true AS gone FROM kept_collections
            WHERE id = ANY (${ids}::bigint[]) AND account_id = ${owner} ORDER BY id`)
          return [...existing, ...deleted.filter(({ id }) => existing.every((one) => one.id !== id))]
        }),
        removedBefore: traced("CollectionActions.removedBefore")((owner, ids) =>
          Effect.map(
            sql`SELECT FROM account_warnings WHERE target_account_id = ${owner} AND action = 'delete_statuses'
              AND collection_ids && ${ids}::bigint[] LIMIT 1`,
            (rows) => rows.length > 0
          )
        ),
        removeRemote: traced("CollectionActions.removeRemote")(function*(id) {
          yield* decided(id, true)
          yield* sql`DELETE FROM collections WHERE id = ${id} AND NOT local`
        }),
        markRemote: traced("CollectionActions.markRemote")(function*(id, sensitive) {
          if (sensitive) yield* decided(id, false)
          else {
            yield* sql`DELETE FROM collection_decisions d USING collections c WHERE c.id = ${id} AND d.uri = c.uri
              AND NOT d.removed`
          }
          yield* sql`UPDATE collections SET sensitive = ${sensitive} WHERE id = ${id} AND NOT local`
        })
      })
    })
  )
}
