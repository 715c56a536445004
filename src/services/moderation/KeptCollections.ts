import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { CollectionItem, type CollectionRecord, StoredCollection } from "../collections/Collection.ts"
import { Collections } from "../collections/Collections.ts"
import { rowsOf } from "../database/Rows.ts"
import { traced } from "../runtime/Traced.ts"

const collectionRows = rowsOf(StoredCollection)
const itemRows = rowsOf(CollectionItem)

/** Reported collections, for moderators; also collections that their owners deleted while a report was open (S-066). */
export class KeptCollections extends Context.Service<KeptCollections, {
  /** Loads existing and deleted collections, in the order of `ids`. */
  readonly load: (
    ids: ReadonlyArray<bigint>
  ) => Effect.Effect<ReadonlyArray<CollectionRecord & { readonly gone: boolean }>>
}>()("murmuration/services/moderation/KeptCollections") {
  static readonly layer = Layer.effect(
    KeptCollections,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const collections = yield* Collections
      const loadKept = Effect.fnUntraced(function*(ids: ReadonlyArray<bigint>) {
        if (ids.length === 0) return []
        const rows = yield* collectionRows(sql`SELECT * FROM kept_collections WHERE id = ANY (${ids}::bigint[])`)
        const items = yield* itemRows(sql`SELECT id, collection_id, account_id, state, created_at
          FROM kept_collection_items WHERE collection_id = ANY (${ids}::bigint[]) ORDER BY position, id`)
        const byCollection = Map.groupBy(items, ({ collectionId }) => collectionId)
        return rows.flatMap((row) => [{ ...row, items: byCollection.get(row.id) ?? [], gone: true }])
      }, Effect.orDie)
      return KeptCollections.of({
        load: traced("KeptCollections.load")(function*(given) {
          const ids = [...new Set(given)]
          const existing = (yield* collections.permitted(ids)).flatMap((one) => [{ ...one, gone: false }])
          const found = new Map(existing.map((one) => [one.id, one]))
          for (const one of yield* loadKept(ids.filter((id) => !found.has(id)))) found.set(one.id, one)
          return ids.flatMap((id) => found.get(id) ?? [])
        })
      })
    })
  )
}
