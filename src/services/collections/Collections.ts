import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { Fragment } from "effect/sql/Statement"
import { RecordNotFound } from "../Errors.ts"
import { blocks, blocksDomain } from "../HiddenAccounts.ts"
import type { AccountId } from "../Ids.ts"
import { rowsMax, type Stretch } from "../Paging.ts"
import { idRows, rowsOf } from "../Rows.ts"
import { isSuspended } from "../SuspendedAccounts.ts"
import { traced } from "../Traced.ts"
import type { Viewer } from "../Viewer.ts"
import { CollectionItem, type CollectionRecord, StoredCollection } from "./Collection.ts"

const collectionRows = rowsOf(StoredCollection)
const itemRows = rowsOf(CollectionItem)
const ownerRows = rowsOf(Schema.Struct({ id: Schema.BigInt, collectionId: Schema.BigInt }))

/** Reads collections: for whom their owner does not block, without items of whom the viewer blocks or who are suspended. */
export class Collections extends Context.Service<Collections, {
  /** In the order of `ids`; who waits to be asked is seen by the owner alone. */
  readonly load: (viewer: Viewer, ids: ReadonlyArray<bigint>) => Effect.Effect<ReadonlyArray<CollectionRecord>>
  readonly find: (viewer: Viewer, id: bigint) => Effect.Effect<CollectionRecord, RecordNotFound>
  /** Those of an account, the newest first; of others what they let be found. */
  readonly of: (viewer: Viewer, accountId: bigint, stretch: Stretch) => Effect.Effect<ReadonlyArray<CollectionRecord>>
  /** Those that an account is in, the newest first. */
  readonly featuring: (accountId: AccountId, stretch: Stretch) => Effect.Effect<ReadonlyArray<CollectionRecord>>
  /** An item of a collection, whatever its state. */
  readonly item: (collectionId: bigint, id: bigint) => Effect.Effect<CollectionItem, RecordNotFound>
}>()("murmuration/services/collections/Collections") {
  static readonly layer = Layer.effect(
    Collections,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient

      /** Whether a collection `c` is shown to the viewer. */
      const shown = (viewer: Viewer): Fragment =>
        sql.and([
          sql`NOT ${isSuspended(sql, sql`c.account_id`)}`,
          ...(viewer === undefined ? [] : [
            sql`NOT ${blocks(sql, sql`c.account_id`, sql`${viewer}::bigint`)}`,
            sql`NOT ${blocksDomain(sql, sql`c.account_id`, sql`${viewer}::bigint`)}`
          ])
        ])

      const load = traced("Collections.load")(function*(viewer: Viewer, ids: ReadonlyArray<bigint>) {
        if (ids.length === 0) return []
        const collections = yield* collectionRows(sql`
          SELECT c.id, c.account_id, c.local, c.uri, c.url, c.name, c.description, c.language, c.sensitive, c.discoverable,
            t.display_name AS tag_name, c.created_at, c.updated_at
          FROM collections c LEFT JOIN tags t ON t.id = c.tag_id WHERE c.id = ANY (${ids}::bigint[]) AND ${
          shown(viewer)
        }`)
        const items = yield* itemRows(sql`
          SELECT i.id, i.collection_id, i.account_id, i.state, i.created_at FROM collection_items i
          JOIN collections c ON c.id = i.collection_id
          WHERE i.collection_id = ANY (${ids}::bigint[]) AND i.account_id IS NOT NULL
            AND (i.state = 'accepted' OR (i.state = 'pending' AND c.account_id = ${viewer ?? 0n}))
            AND NOT ${isSuspended(sql, sql`i.account_id`)}
            ${viewer === undefined ? sql`` : sql`AND NOT ${blocks(sql, sql`${viewer}::bigint`, sql`i.account_id`)}`}
          ORDER BY i.position, i.id`)
        const byCollection = Map.groupBy(items, ({ collectionId }) => collectionId)
        const byId = new Map(collections.map((one) => [one.id, one]))
        return ids.flatMap((id) => {
          const collection = byId.get(id)
          return collection === undefined ? [] : [{ ...collection, items: byCollection.get(id) ?? [] }]
        })
      }, Effect.orDie)

      const find = traced("Collections.find")(function*(viewer: Viewer, id: bigint) {
        const [found] = yield* load(viewer, [id])
        return found ?? (yield* new RecordNotFound())
      })

      const of = traced("Collections.of")(function*(viewer: Viewer, accountId: bigint, { limit, offset }: Stretch) {
        const rows = yield* Effect.orDie(idRows(sql`SELECT c.id FROM collections c WHERE c.account_id = ${accountId}
          AND ${viewer === accountId ? sql`TRUE` : sql`c.discoverable`} AND ${shown(viewer)}
          ORDER BY c.id DESC LIMIT ${rowsMax(sql, limit)} OFFSET ${offset}`))
        return yield* load(viewer, rows.map(({ id }) => id))
      })

      const featuring = traced("Collections.featuring")(function*(accountId: AccountId, { limit, offset }: Stretch) {
        const rows = yield* Effect.orDie(ownerRows(sql`SELECT i.id, i.collection_id FROM collection_items i
          JOIN collections c ON c.id = i.collection_id WHERE i.account_id = ${accountId} AND i.state = 'accepted'
            AND ${shown(accountId)} ORDER BY i.id DESC LIMIT ${rowsMax(sql, limit)} OFFSET ${offset}`))
        return yield* load(accountId, rows.map(({ collectionId }) => collectionId))
      })

      const item = traced("Collections.item")(function*(collectionId: bigint, id: bigint) {
        const [found] = yield* Effect.orDie(itemRows(sql`
          SELECT id, collection_id, account_id, state, created_at FROM collection_items
          WHERE id = ${id} AND collection_id = ${collectionId}`))
        return found ?? (yield* new RecordNotFound())
      })

      return Collections.of({ load, find, of, featuring, item })
    })
  )
}
