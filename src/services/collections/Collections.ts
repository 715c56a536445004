import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { Fragment } from "effect/sql/Statement"
import { collectionAt } from "../discovery/LocalUrls.ts"
import { queryCharactersMax, wordStarts } from "../discovery/Search.ts"
import { RecordNotFound } from "../Errors.ts"
import { blocks, blocksDomain, isHidden } from "../HiddenAccounts.ts"
import type { AccountId } from "../Ids.ts"
import { ServerConfig } from "../instance/ServerConfig.ts"
import { rowsMax, type Stretch } from "../Paging.ts"
import { idRows, rowsOf } from "../Rows.ts"
import { bounded } from "../search/Bounded.ts"
import { isSuspended } from "../SuspendedAccounts.ts"
import { traced } from "../Traced.ts"
import type { Viewer } from "../Viewer.ts"
import { CollectionItem, type CollectionRecord, StoredCollection } from "./Collection.ts"
import { featureStanding } from "./FeaturePolicy.ts"

/** Collections that a search goes through before it sorts and pages. */
const candidatesMax = 500

const Standing = Schema.Literals(["automatic", "manual", "denied"])
type Standing = typeof Standing.Type
const standingRows = rowsOf(Schema.Struct({ id: Schema.BigInt, standing: Standing }))
const collectionRows = rowsOf(StoredCollection)
const itemRows = rowsOf(CollectionItem)
const blockRows = rowsOf(Schema.Struct({ viewer: Schema.BigInt, other: Schema.BigInt, theirs: Schema.Boolean }))
const ownerRows = rowsOf(Schema.Struct({ id: Schema.BigInt, collectionId: Schema.BigInt }))

/** Collections as everybody sees them, and as those do who see something else. */
interface CollectionsForMany {
  readonly everybody: ReadonlyArray<CollectionRecord>
  readonly others: ReadonlyMap<bigint, ReadonlyArray<CollectionRecord>>
}

/** Reads collections: for whom their owner does not block, without items of whom the viewer blocks or who are suspended. */
export class Collections extends Context.Service<Collections, {
  /** In the order of `ids`; who waits to be asked is seen by the owner alone. */
  readonly load: (viewer: Viewer, ids: ReadonlyArray<bigint>) => Effect.Effect<ReadonlyArray<CollectionRecord>>
  /** The same for many of this server at once, in two queries and one more for each owner among them. */
  readonly loadFor: (
    viewers: ReadonlyArray<AccountId>,
    ids: ReadonlyArray<bigint>
  ) => Effect.Effect<CollectionsForMany>
  /** The same for moderators, whoever else may see them: with everybody who is in them. */
  readonly permitted: (ids: ReadonlyArray<bigint>) => Effect.Effect<ReadonlyArray<CollectionRecord>>
  readonly find: (viewer: Viewer, id: bigint) => Effect.Effect<CollectionRecord, RecordNotFound>
  /** Those of an account, the newest first; of others what they let be found. */
  readonly of: (viewer: Viewer, accountId: bigint, stretch: Stretch) => Effect.Effect<ReadonlyArray<CollectionRecord>>
  /** Those that an account is in, the newest first. */
  readonly featuring: (accountId: AccountId, stretch: Stretch) => Effect.Effect<ReadonlyArray<CollectionRecord>>
  /** Ids of those whose names have words that begin with these, as `of` lets them be found, of whom the viewer does not hide. */
  readonly search: (viewer: Viewer, text: string, stretch: Stretch) => Effect.Effect<ReadonlyArray<bigint>>
  /** The id of the one at an address; of another server's, one that is known here. */
  readonly at: (viewer: Viewer, address: string) => Effect.Effect<bigint | undefined>
  /** How it stands between somebody who would put accounts into a collection and each of these. */
  readonly standings: (curator: AccountId, ids: ReadonlyArray<bigint>) => Effect.Effect<ReadonlyMap<bigint, Standing>>
  /** An item of a collection, whatever its state. */
  readonly item: (collectionId: bigint, id: bigint) => Effect.Effect<CollectionItem, RecordNotFound>
}>()("murmuration/services/collections/Collections") {
  static readonly layer = Layer.effect(
    Collections,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const config = yield* ServerConfig

      /** Whether a collection `c` is shown to the viewer. */
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
          // Who has one sees who still waits.
          for (const owner of viewers) if (owners.includes(owner)) others.set(owner, yield* load(owner, ids))
          return { everybody, others }
        }
      )

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

      const search = traced("Collections.search")(function*(viewer: Viewer, text: string, { limit, offset }: Stretch) {
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
            viewer === undefined ? sql`` : sql`AND NOT ${isHidden(sql, sql`${viewer}::bigint`, sql`c.account_id`, now)}`
          }
          ORDER BY ${own} DESC, length(c.name), c.id DESC LIMIT ${rowsMax(sql, limit)} OFFSET ${offset}`)
        )
        return rows.map(({ id }) => id)
      })

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
        const rows = yield* standingRows(sql`SELECT a.id, ${featureStanding(sql, sql`${curator}::bigint`)} AS standing
          FROM accounts a WHERE a.id = ANY (${ids}::bigint[])`)
        return new Map(rows.map(({ id, standing }) => [id, standing]))
      }, Effect.orDie)

      return Collections.of({ load, loadFor, permitted, standings, find, of, featuring, search, at, item })
    })
  )
}

/** A collection without some of those in it. */
const without = (record: CollectionRecord, hidden: ReadonlySet<bigint | null>): CollectionRecord => ({
  ...record,
  items: record.items.filter(({ accountId }) => !hidden.has(accountId))
})
