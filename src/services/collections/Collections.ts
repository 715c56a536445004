import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { Fragment } from "effect/sql/Statement"
import type { AccountId } from "../database/Ids.ts"
import { type OffsetPage, rowsMax } from "../database/Paging.ts"
import { idRows, rowsOf } from "../database/Rows.ts"
import { collectionAt } from "../discovery/LocalUrls.ts"
import { queryCharactersMax, wordStarts } from "../discovery/Search.ts"
import { ServerConfig } from "../instance/ServerConfig.ts"
import { RecordNotFound } from "../runtime/Errors.ts"
import { traced } from "../runtime/Traced.ts"
import { bounded } from "../search/Bounded.ts"
import { blocks, blocksDomain, isHidden } from "../visibility/HiddenAccounts.ts"
import { isSuspended } from "../visibility/SuspendedAccounts.ts"
import type { Viewer } from "../visibility/Viewer.ts"
import { CollectionItem, type CollectionRecord, StoredCollection } from "./Collection.ts"
import { featureVerdict } from "./FeaturePolicy.ts"

/** Maximum matches that a search reads before it sorts and pages. */
const candidatesMax = 500

const Standing = Schema.Literals(["automatic", "manual", "denied"])
type Standing = typeof Standing.Type
const standingRows = rowsOf(Schema.Struct({ id: Schema.BigInt, standing: Standing }))
const collectionRows = rowsOf(StoredCollection)
const itemRows = rowsOf(CollectionItem)
const blockRows = rowsOf(Schema.Struct({ viewer: Schema.BigInt, other: Schema.BigInt, theirs: Schema.Boolean }))
const ownerRows = rowsOf(Schema.Struct({ id: Schema.BigInt, collectionId: Schema.BigInt }))

/** Collections in their public form, and for each viewer who sees them differently. */
interface CollectionsForMany {
  readonly everybody: ReadonlyArray<CollectionRecord>
  readonly others: ReadonlyMap<bigint, ReadonlyArray<CollectionRecord>>
}

/**
 * Reads collections. Hides them from viewers whom the owner blocks; omits items of suspended accounts and of accounts
 * that the viewer blocks.
 */
export class Collections extends Context.Service<Collections, {
  /** Returns collections in the order of `ids`; only the owner sees pending items. */
  readonly load: (viewer: Viewer, ids: ReadonlyArray<bigint>) => Effect.Effect<ReadonlyArray<CollectionRecord>>
  /** Like `load`, for many local viewers: two queries, and one more for each owner among them. */
  readonly loadFor: (
    viewers: ReadonlyArray<AccountId>,
    ids: ReadonlyArray<bigint>
  ) => Effect.Effect<CollectionsForMany>
  /** Returns collections with all items, regardless of visibility; for moderators. */
  readonly permitted: (ids: ReadonlyArray<bigint>) => Effect.Effect<ReadonlyArray<CollectionRecord>>
  readonly find: (viewer: Viewer, id: bigint) => Effect.Effect<CollectionRecord, RecordNotFound>
  /** Returns an account's collections, newest first; to others only the discoverable ones. */
  readonly of: (
    viewer: Viewer,
    accountId: bigint,
    stretch: OffsetPage
  ) => Effect.Effect<ReadonlyArray<CollectionRecord>>
  /** Returns the collections that an account is in, newest first. */
  readonly featuring: (accountId: AccountId, stretch: OffsetPage) => Effect.Effect<ReadonlyArray<CollectionRecord>>
  /**
   * Returns ids of collections whose names contain words with these prefixes: discoverable or own ones, of owners whom
   * the viewer does not hide.
   */
  readonly search: (viewer: Viewer, text: string, stretch: OffsetPage) => Effect.Effect<ReadonlyArray<bigint>>
  /** Returns the id of the collection at a URL; of other servers only known ones. */
  readonly at: (viewer: Viewer, address: string) => Effect.Effect<bigint | undefined>
  /** Returns the curator's mode for each account: added automatically, by manual approval, or denied. */
  readonly standings: (curator: AccountId, ids: ReadonlyArray<bigint>) => Effect.Effect<ReadonlyMap<bigint, Standing>>
  /** Returns an item of a collection in any state. */
  readonly item: (collectionId: bigint, id: bigint) => Effect.Effect<CollectionItem, RecordNotFound>
}>()("murmuration/services/collections/Collections") {
  static readonly layer = Layer.effect(
    Collections,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const config = yield* ServerConfig

      /** Condition: the collection `c` is visible to the viewer. */
      const shown = (viewer: Viewer): Fragment =>
        sql.and([
          sql`NOT ${isSuspended(sql, sql`c.account_id`)}`,
          ...(viewer === undefined ? [] : [
            sql`NOT ${blocks(sql, sql`c.account_id`, sql`${viewer}::bigint`)}`,
            sql`NOT ${blocksDomain(sql, sql`c.account_id`, sql`${viewer}::bigint`)}`
          ])
        ])

      const read = Effect.fnUntraced(function*(ids: ReadonlyArray<bigint>, which: Fragment, members: Fragment) {
        if (ids.length === 0) return []
        const collections = yield* collectionRows(sql`
          SELECT c.id, c.account_id, c.local, c.uri, c.url, c.name, c.description, c.language, c.sensitive, c.discoverable,
            t.display_name AS tag_name, c.created_at, c.updated_at
          FROM collections c LEFT JOIN tags t ON t.id = c.tag_id WHERE c.id = ANY (${ids}::bigint[])
            AND ${which}`)
        const items = yield* itemRows(sql`
          SELECT i.id, i.collection_id, i.account_id, i.state, i.created_at FROM collection_items i
          JOIN collections c ON c.id = i.collection_id
          WHERE i.collection_id = ANY (${ids}::bigint[]) AND i.account_id IS NOT NULL AND ${members}
          ORDER BY i.position, i.id`)
        const byCollection = Map.groupBy(items, ({ collectionId }) => collectionId)
        const byId = new Map(collections.map((one) => [one.id, one]))
        return ids.flatMap((id) => {
          const collection = byId.get(id)
          return collection === undefined ? [] : [{ ...collection, items: byCollection.get(id) ?? [] }]
        })
      }, Effect.orDie)

      const load = traced("Collections.load")((viewer: Viewer, ids: ReadonlyArray<bigint>) =>
        read(
          ids,
          shown(viewer),
          sql.and([
            sql`(i.state = 'accepted' OR (i.state = 'pending' AND c.account_id = ${viewer ?? 0n}))`,
            sql`NOT ${isSuspended(sql, sql`i.account_id`)}`,
            ...(viewer === undefined ? [] : [sql`NOT ${blocks(sql, sql`${viewer}::bigint`, sql`i.account_id`)}`])
          ])
        )
      )
      const permitted = traced("Collections.permitted")((ids: ReadonlyArray<bigint>) =>
        read(ids, sql`TRUE`, sql`i.state IN ('accepted', 'pending')`)
      )

      const loadFor = traced("Collections.loadFor")(
        function*(viewers: ReadonlyArray<AccountId>, ids: ReadonlyArray<bigint>) {
          const everybody = yield* load(undefined, ids)
          const owners = everybody.map(({ accountId }) => accountId)
          const members = everybody.flatMap(({ items }) => items.flatMap(({ accountId }) => accountId ?? []))
          const rows = yield* Effect.orDie(blockRows(sql`
            SELECT account_id AS viewer, target_account_id AS other, false AS theirs FROM blocks
              WHERE account_id = ANY (${viewers}::bigint[]) AND target_account_id = ANY (${members}::bigint[])
            UNION ALL SELECT target_account_id, account_id, true FROM blocks
              WHERE target_account_id = ANY (${viewers}::bigint[]) AND account_id = ANY (${owners}::bigint[])`))
          const others = new Map<bigint, ReadonlyArray<CollectionRecord>>()
          for (const [viewer, blocks] of Map.groupBy(rows, (row) => row.viewer)) {
            const closed = new Set(blocks.flatMap(({ other, theirs }) => theirs ? [other] : []))
            const hidden = new Set<bigint | null>(blocks.flatMap(({ other, theirs }) => theirs ? [] : [other]))
            others.set(viewer, everybody.flatMap((one) => closed.has(one.accountId) ? [] : [without(one, hidden)]))
          }
          // Owners also see pending items.
          for (const owner of viewers) if (owners.includes(owner)) others.set(owner, yield* load(owner, ids))
          return { everybody, others }
        }
      )

      const find = traced("Collections.find")(function*(viewer: Viewer, id: bigint) {
        const [found] = yield* load(viewer, [id])
        return found ?? (yield* new RecordNotFound())
      })

      const of = traced("Collections.of")(function*(viewer: Viewer, accountId: bigint, { limit, offset }: OffsetPage) {
        const rows = yield* Effect.orDie(idRows(sql`SELECT c.id FROM collections c WHERE c.account_id = ${accountId}
          AND ${viewer === accountId ? sql`TRUE` : sql`c.discoverable`} AND ${shown(viewer)}
          ORDER BY c.id DESC LIMIT ${rowsMax(sql, limit)} OFFSET ${offset}`))
        return yield* load(viewer, rows.map(({ id }) => id))
      })

      const featuring = traced("Collections.featuring")(function*(accountId: AccountId, { limit, offset }: OffsetPage) {
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

      const search = traced("Collections.search")(
        function*(viewer: Viewer, text: string, { limit, offset }: OffsetPage) {
          const words = wordStarts(text.slice(0, queryCharactersMax).toLowerCase())
          if (words === "" || limit === 0) return []
          const now = new Date(yield* Clock.currentTimeMillis)
          const own = sql`c.account_id = ${viewer ?? 0n}`
          const rows = yield* bounded(
            sql,
            idRows(sql`
          SELECT c.id FROM (SELECT * FROM collections
            WHERE to_tsvector('simple', name) @@ to_tsquery('simple', ${words}) LIMIT ${rowsMax(sql, candidatesMax)}) c
          WHERE (c.discoverable OR ${own}) AND ${shown(viewer)}
            ${
              viewer === undefined
                ? sql``
                : sql`AND NOT ${isHidden(sql, sql`${viewer}::bigint`, sql`c.account_id`, now)}`
            }
          ORDER BY ${own} DESC, length(c.name), c.id DESC LIMIT ${rowsMax(sql, limit)} OFFSET ${offset}`)
          )
          return rows.map(({ id }) => id)
        }
      )

      const at = traced("Collections.at")(function*(viewer: Viewer, address: string) {
        const named = collectionAt(config, address)
        const place = named === undefined
          ? sql`(c.uri = ${address} OR c.url = ${address})`
          : sql`c.id = ${named.id} AND c.account_id = coalesce(${
            named.accountId ?? null
          }::bigint, c.account_id) AND c.local`
        const [row] = yield* Effect.orDie(idRows(sql`SELECT c.id FROM collections c WHERE ${place} AND ${shown(viewer)}
          ORDER BY c.id LIMIT 1`))
        return row?.id
      })

      const standings = traced("Collections.standings")(function*(curator: AccountId, ids: ReadonlyArray<bigint>) {
        if (ids.length === 0) return new Map<bigint, Standing>()
        const rows = yield* standingRows(sql`SELECT a.id, ${featureVerdict(sql, sql`${curator}::bigint`)} AS standing
          FROM accounts a WHERE a.id = ANY (${ids}::bigint[])`)
        return new Map(rows.map(({ id, standing }) => [id, standing]))
      }, Effect.orDie)

      return Collections.of({ load, loadFor, permitted, standings, find, of, featuring, search, at, item })
    })
  )
}

/** Returns a collection without the items of these accounts. */
const without = (record: CollectionRecord, hidden: ReadonlySet<bigint | null>): CollectionRecord => ({
  ...record,
  items: record.items.filter(({ accountId }) => !hidden.has(accountId))
})
