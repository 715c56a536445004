import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import type { Fragment } from "effect/sql/Statement"
import { mayFeature } from "../../collections/FeaturePolicy.ts"
import { idRows, rowsOf } from "../../database/Rows.ts"
import { parse } from "../../discovery/LocalUrls.ts"
import { normalise } from "../../html/HashtagNames.ts"
import { nameColumns } from "../../instance/LocalNames.ts"
import { ServerConfig } from "../../instance/ServerConfig.ts"
import { traced } from "../../runtime/Traced.ts"
import { bounded } from "../../text/BoundedText.ts"
import type { ForeignCollection, ForeignItem } from "../documents/ForeignCollection.ts"

/** Maximum collections stored per remote account. */
const remoteCollectionsMax = 50

/** Maximum items stored per remote collection. */
const remoteItemsMax = 150

const addedRows = rowsOf(Schema.Struct({ waits: Schema.Boolean }))
const storedRows = rowsOf(Schema.Struct({ id: Schema.BigInt, significant: Schema.Boolean }))
/** Item of a local collection, with the collection's owner. */
const AgreedItem = Schema.Struct({
  id: Schema.BigInt,
  collectionId: Schema.BigInt,
  ownerId: Schema.BigInt,
  accountId: Schema.BigInt
})
type AgreedItem = typeof AgreedItem.Type
const itemRows = rowsOf(AgreedItem)

/** Remote collections of accounts, in the transaction of their owner's actor, and remote replies to local requests. */
export class RemoteFeaturedCollections extends Context.Service<RemoteFeaturedCollections, {
  /**
   * Stores a collection. Returns its id, and whether the change is worth a notification to its members; undefined
   * beyond the maximum.
   */
  readonly store: (
    owner: bigint,
    collection: ForeignCollection
  ) => Effect.Effect<{ readonly id: bigint; readonly significant: boolean } | undefined, SqlError>
  /** Returns the owner's collection by its id; with `stub`, an unknown one is created without a name. */
  readonly known: (owner: bigint, uri: string, stub: boolean) => Effect.Effect<bigint | undefined, SqlError>
  /**
   * Stores items with consent, if that is known without a request. Returns true if other items still have to be
   * checked.
   */
  readonly keepItems: (owner: string, id: bigint, items: ReadonlyArray<ForeignItem>) => Effect.Effect<boolean, SqlError>
  readonly removeItem: (id: bigint, uri: string) => Effect.Effect<void, SqlError>
  readonly remove: (owner: bigint, uri: string) => Effect.Effect<void, SqlError>
  /**
   * Adds a local account that allows this automatically. Returns the item; undefined if the account does not allow it.
   */
  readonly admit: (
    owner: bigint,
    id: bigint,
    accountId: bigint,
    request: string
  ) => Effect.Effect<bigint | undefined, SqlError>
  /** Handles a remote account's consent to our request, or its rejection. Returns the item. */
  readonly settled: (
    accountId: bigint,
    request: string,
    approval: string | undefined
  ) => Effect.Effect<AgreedItem | undefined, SqlError>
  /** Revokes a remote account's consent to a local collection. Returns the item. */
  readonly withdrawn: (
    accountId: bigint,
    approval: string
  ) => Effect.Effect<AgreedItem | undefined, SqlError>
  /** Removes items of remote collections with a revoked consent; false if there were none. */
  readonly left: (accountId: bigint, approval: string) => Effect.Effect<boolean, SqlError>
}>()("murmuration/services/federation/inbox/RemoteFeaturedCollections") {
  static readonly layer = Layer.effect(
    RemoteFeaturedCollections,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const config = yield* ServerConfig
      const ours = new URL(config.publicUrl).origin
      const now = Effect.map(Clock.currentTimeMillis, (millis) => new Date(millis))

      /** SQL condition: the owner has room for a collection, and moderators did not remove this one. */
      const hasCapacity = (owner: bigint, uri: string) =>
        sql`NOT EXISTS (SELECT FROM collection_decisions WHERE uri = ${uri} AND removed) AND (SELECT count(*) FROM collections WHERE account_id = ${owner}) < ${remoteCollectionsMax}`

      const known = traced("RemoteFeaturedCollections.known")(function*(owner: bigint, uri: string, stub: boolean) {
        const [found] = yield* idRows(sql`SELECT id FROM collections WHERE uri = ${uri} AND account_id = ${owner}`)
        if (found !== undefined || !stub) return found?.id
        const at = yield* now
        const [inserted] = yield* idRows(
          sql`INSERT INTO collections (id, account_id, local, uri, url, name, discoverable,
            created_at, updated_at)
          SELECT next_id(${at.getTime()}), ${owner}, false, ${uri}, ${uri}, '', false, ${at}::timestamptz, ${at}::timestamptz
          WHERE ${hasCapacity(owner, uri)} ON CONFLICT DO NOTHING RETURNING id`
        )
        return inserted?.id
      })

      /** Deletes items, and their accounts' notifications about them. */
      const takenOut = (which: Fragment) =>
        sql`WITH gone AS (DELETE FROM collection_items i WHERE ${which} RETURNING i.collection_id, i.account_id)
          DELETE FROM notifications n USING gone, collections c WHERE c.id = gone.collection_id
            AND n.account_id = gone.account_id AND n.from_account_id = c.account_id AND n.report_id = c.id
            AND n.type IN ('added_to_collection', 'collection_update')`

      const store = traced("RemoteFeaturedCollections.store")(function*(owner: bigint, collection: ForeignCollection) {
        const at = yield* now
        const created = new Date(Math.min(collection.createdAt ?? at.getTime(), at.getTime()))
        const { tagName } = collection
        const [tag] = tagName === null ? [] : yield* idRows(sql`INSERT INTO tags (id, name, display_name, created_at)
          VALUES (next_id(${at.getTime()}), ${normalise(bounded(tagName))}, ${tagName}, ${at})
          ON CONFLICT (name) DO UPDATE SET display_name = tags.display_name RETURNING id`)
        const [stored] = yield* storedRows(sql`
          WITH before AS MATERIALIZED (SELECT * FROM collections WHERE uri = ${collection.uri})
          INSERT INTO collections AS c (id, account_id, local, uri, url, name, description, language, sensitive, discoverable,
            tag_id, created_at, updated_at)
          SELECT next_id(${created.getTime()}), ${owner}, false, ${collection.uri}, ${collection.url}, ${collection.name},
            ${collection.description}, ${collection.language},
            ${collection.sensitive} OR EXISTS (SELECT FROM collection_decisions WHERE uri = ${collection.uri}), ${collection.discoverable},
            ${tag?.id ?? null}::bigint, ${created}::timestamptz, ${at}::timestamptz
          WHERE EXISTS (SELECT FROM before) OR (${hasCapacity(owner, collection.uri)})
          ON CONFLICT (uri) WHERE uri IS NOT NULL DO UPDATE SET url = excluded.url, name = excluded.name,
            description = excluded.description, language = excluded.language, sensitive = excluded.sensitive,
            discoverable = excluded.discoverable, tag_id = excluded.tag_id, updated_at = excluded.updated_at
            WHERE c.account_id = excluded.account_id
          RETURNING c.id, coalesce((SELECT b.name <> '' AND (b.name, b.description, b.sensitive, coalesce(b.tag_id, 0))
            IS DISTINCT FROM (c.name, c.description, c.sensitive, coalesce(c.tag_id, 0)) FROM before b), false) AS significant`)
        if (stored === undefined) return undefined
        yield* takenOut(sql`i.collection_id = ${stored.id} AND i.uri IS NOT NULL
          AND i.uri <> ALL (${collection.items.map(({ uri }) => uri)}::text[])`)
        return stored
      })

      const keepItems = traced("RemoteFeaturedCollections.keepItems")(
        function*(owner: string, id: bigint, items: ReadonlyArray<ForeignItem>) {
          const unique = [...new Map(items.map((item) => [item.uri, item])).values()]
          const localItems = unique.flatMap(({ account, uri }) => {
            const named = parse(config, account)
            return named?.kind === "account" ? [{ uri, name: named.name }] : []
          })
          // A local account's item depends on its own consent. The remote id is stored so that a Remove finds the item.
          if (localItems.length > 0) {
            const { numbers, usernames } = nameColumns(localItems.map(({ name }) => name))
            yield* sql`UPDATE collection_items i SET uri = g.uri
              FROM unnest(${localItems.map(({ uri }) => uri)}::text[], ${numbers}::bigint[], ${usernames}::text[])
                g (uri, number, username)
              JOIN accounts a ON a.domain IS NULL AND a.id = coalesce(nullif(g.number, 0), (SELECT n.id FROM accounts n
                WHERE lower(n.username) = g.username AND lower(coalesce(n.domain, '')) = ''))
              WHERE i.collection_id = ${id} AND i.account_id = a.id AND i.uri IS NULL
                AND NOT EXISTS (SELECT FROM collection_items o WHERE o.uri = g.uri)`
          }
          const agreed = unique.filter(({ account, authorization }) =>
            authorization !== undefined && URL.parse(account)?.origin !== ours
          )
          if (agreed.length === 0) return false
          const at = yield* now
          const origin = URL.parse(owner)?.origin
          // The owner's server vouches for its own accounts; consent of others must be fetched.
          const added = yield* addedRows(
            sql`INSERT INTO collection_items (id, collection_id, account_id, account_uri, state, uri,
              approval_uri, position, created_at, updated_at)
            SELECT next_id(${at.getTime()}), ${id}, a.id, CASE WHEN a.id IS NULL THEN g.account END,
              CASE WHEN a.id IS NULL THEN 'pending' ELSE 'accepted' END, g.uri, g.approval, g.place, ${at}, ${at}
            FROM unnest(${agreed.map(({ uri }) => uri)}::text[], ${agreed.map(({ account }) => account)}::text[],
              ${agreed.map(({ authorization = "" }) => authorization)}::text[],
              ${agreed.map(({ account }) => URL.parse(account)?.origin === origin)}::boolean[])
              WITH ORDINALITY g (uri, account, approval, vouched, place)
            LEFT JOIN accounts a ON a.uri = g.account AND g.vouched
            WHERE g.place <= ${remoteItemsMax} - (SELECT count(*) FROM collection_items WHERE collection_id = ${id})
            ON CONFLICT DO NOTHING RETURNING account_id IS NULL AS waits`
          )
          return added.some(({ waits }) => waits)
        }
      )

      const admit = traced("RemoteFeaturedCollections.admit")(
        function*(owner: bigint, id: bigint, accountId: bigint, request: string) {
          const at = yield* now
          const allowed = yield* idRows(sql`SELECT a.id FROM accounts a WHERE a.id = ${accountId} AND a.domain IS NULL
            AND ${mayFeature(sql, sql`${owner}::bigint`)}`)
          if (allowed.length === 0) return undefined
          const [item] = yield* idRows(
            sql`INSERT INTO collection_items AS i (id, collection_id, account_id, state, request_uri,
              position, created_at, updated_at)
            VALUES (next_id(${at.getTime()}), ${id}, ${accountId}, 'accepted', ${request},
              1 + coalesce((SELECT max(position) FROM collection_items WHERE collection_id = ${id}), 0), ${at}, ${at})
            ON CONFLICT (collection_id, account_id) DO UPDATE SET state = 'accepted', request_uri = excluded.request_uri,
              updated_at = excluded.updated_at RETURNING i.id`
          )
          return item?.id
        }
      )

      const shown = sql.literal(`collection_items.id, collection_items.collection_id, c.account_id AS owner_id,
        collection_items.account_id`)
      const settled = traced("RemoteFeaturedCollections.settled")(
        function*(accountId: bigint, request: string, approval: string | undefined) {
          const [item] = yield* itemRows(sql`UPDATE collection_items SET approval_uri = ${approval ?? null},
              state = ${approval === undefined ? "rejected" : "accepted"}, updated_at = ${yield* now}
            FROM collections c WHERE c.id = collection_items.collection_id AND c.local
              AND collection_items.request_uri = ${request} AND collection_items.account_id = ${accountId}
              AND collection_items.state IN ('pending', 'accepted') RETURNING ${shown}`)
          return item
        }
      )
      const withdrawn = traced("RemoteFeaturedCollections.withdrawn")(function*(accountId: bigint, approval: string) {
        const [item] = yield* itemRows(sql`UPDATE collection_items SET state = 'revoked', updated_at = ${yield* now}
          FROM collections c WHERE c.id = collection_items.collection_id AND c.local
            AND collection_items.approval_uri = ${approval} AND collection_items.account_id = ${accountId}
            AND collection_items.state = 'accepted' RETURNING ${shown}`)
        return item
      })

      return RemoteFeaturedCollections.of({
        admit,
        settled,
        keepItems,
        known,
        left: traced("RemoteFeaturedCollections.left")((accountId, approval) =>
          Effect.map(
            idRows(sql`DELETE FROM collection_items i USING collections c WHERE c.id = i.collection_id AND NOT c.local
              AND i.approval_uri = ${approval} AND i.account_id = ${accountId} RETURNING i.id`),
            (gone) => gone.length > 0
          )
        ),
        remove: traced("RemoteFeaturedCollections.remove")(function*(owner, uri) {
          yield* takenOut(
            sql`i.collection_id = (SELECT id FROM collections WHERE uri = ${uri} AND account_id = ${owner})`
          )
          yield* sql`DELETE FROM collections WHERE uri = ${uri} AND account_id = ${owner}`
        }),
        removeItem: traced("RemoteFeaturedCollections.removeItem")((id, uri) =>
          Effect.asVoid(takenOut(sql`i.collection_id = ${id} AND i.uri = ${uri}`))
        ),
        store,
        withdrawn
      })
    })
  )
}
