import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { mayFeature } from "../../collections/FeaturePolicy.ts"
import { normalise } from "../../html/HashtagNames.ts"
import { idRows, rowsOf } from "../../Rows.ts"
import { traced } from "../../Traced.ts"
import type { ForeignCollection, ForeignItem } from "../documents/ForeignCollection.ts"

/** Collections of one remote account that are kept. */
const remoteCollectionsMax = 50

const storedRows = rowsOf(Schema.Struct({ id: Schema.BigInt, significant: Schema.Boolean }))
/** An item of one of our collections, with who has that. */
const AgreedItem = Schema.Struct({
  id: Schema.BigInt,
  collectionId: Schema.BigInt,
  ownerId: Schema.BigInt,
  accountId: Schema.BigInt
})
type AgreedItem = typeof AgreedItem.Type
const itemRows = rowsOf(AgreedItem)

/** Collections of accounts elsewhere, in the transaction of their owner's actor; and what others answer to ours. */
export class RemoteFeaturedCollections extends Context.Service<RemoteFeaturedCollections, {
  /** Answers its id and whether those in it are told that it says something else; undefined for one too many. */
  readonly store: (
    owner: bigint,
    collection: ForeignCollection
  ) => Effect.Effect<{ readonly id: bigint; readonly significant: boolean } | undefined, SqlError>
  /** The owner's collection by its address; made without a name where nothing is known of it but that. */
  readonly known: (owner: bigint, uri: string, stub: boolean) => Effect.Effect<bigint | undefined, SqlError>
  /** Takes items over that those in them agree to, as far as that can be told without asking. */
  readonly keepItems: (owner: string, id: bigint, items: ReadonlyArray<ForeignItem>) => Effect.Effect<void, SqlError>
  readonly removeItem: (id: bigint, uri: string) => Effect.Effect<void, SqlError>
  readonly remove: (owner: bigint, uri: string) => Effect.Effect<void, SqlError>
  /** A local account is in it from now on, because it lets everybody; answers the item, undefined where it does not. */
  readonly admit: (
    owner: bigint,
    id: bigint,
    accountId: bigint,
    request: string
  ) => Effect.Effect<bigint | undefined, SqlError>
  /** An account elsewhere agrees to our request, or not. Answers the item that this is about. */
  readonly answered: (
    accountId: bigint,
    request: string,
    approval: string | undefined
  ) => Effect.Effect<AgreedItem | undefined, SqlError>
  /** An account elsewhere takes its word back. */
  readonly withdrawn: (
    accountId: bigint,
    approval: string
  ) => Effect.Effect<AgreedItem | undefined, SqlError>
}>()("murmuration/services/federation/inbox/RemoteFeaturedCollections") {
  static readonly layer = Layer.effect(
    RemoteFeaturedCollections,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const now = Effect.map(Clock.currentTimeMillis, (millis) => new Date(millis))

      /** Whether one more may be kept, and moderators did not remove this one. */
      const roomFor = (owner: bigint, uri: string) =>
        sql`NOT EXISTS (SELECT FROM collection_decisions WHERE uri = ${uri} AND removed) AND (SELECT count(*) FROM collections WHERE account_id = ${owner}) < ${remoteCollectionsMax}`

      const known = traced("RemoteFeaturedCollections.known")(function*(owner: bigint, uri: string, stub: boolean) {
        const [found] = yield* idRows(sql`SELECT id FROM collections WHERE uri = ${uri} AND account_id = ${owner}`)
        if (found !== undefined || !stub) return found?.id
        const at = yield* now
        const [made] = yield* idRows(sql`INSERT INTO collections (id, account_id, local, uri, url, name, discoverable,
            created_at, updated_at)
          SELECT next_id(${at.getTime()}), ${owner}, false, ${uri}, ${uri}, '', false, ${at}::timestamptz, ${at}::timestamptz
          WHERE ${roomFor(owner, uri)} ON CONFLICT DO NOTHING RETURNING id`)
        return made?.id
      })

      const store = traced("RemoteFeaturedCollections.store")(function*(owner: bigint, collection: ForeignCollection) {
        const at = yield* now
        const created = new Date(Math.min(collection.createdAt ?? at.getTime(), at.getTime()))
        const { tagName } = collection
        const [tag] = tagName === null ? [] : yield* idRows(sql`INSERT INTO tags (id, name, display_name, created_at)
          VALUES (next_id(${at.getTime()}), ${normalise(tagName)}, ${tagName}, ${at})
          ON CONFLICT (name) DO UPDATE SET display_name = tags.display_name RETURNING id`)
        const [stored] = yield* storedRows(sql`
          WITH before AS MATERIALIZED (SELECT * FROM collections WHERE uri = ${collection.uri})
          INSERT INTO collections AS c (id, account_id, local, uri, url, name, description, language, sensitive, discoverable,
            tag_id, created_at, updated_at)
          SELECT next_id(${created.getTime()}), ${owner}, false, ${collection.uri}, ${collection.url}, ${collection.name},
            ${collection.description}, ${collection.language},
            ${collection.sensitive} OR EXISTS (SELECT FROM collection_decisions WHERE uri = ${collection.uri}), ${collection.discoverable},
            ${tag?.id ?? null}::bigint, ${created}::timestamptz, ${at}::timestamptz
          WHERE EXISTS (SELECT FROM before) OR (${roomFor(owner, collection.uri)})
          ON CONFLICT (uri) WHERE uri IS NOT NULL DO UPDATE SET url = excluded.url, name = excluded.name,
            description = excluded.description, language = excluded.language, sensitive = excluded.sensitive,
            discoverable = excluded.discoverable, tag_id = excluded.tag_id, updated_at = excluded.updated_at
            WHERE c.account_id = excluded.account_id
          RETURNING c.id, coalesce((SELECT b.name <> '' AND (b.name, b.description, b.sensitive, coalesce(b.tag_id, 0))
            IS DISTINCT FROM (c.name, c.description, c.sensitive, coalesce(c.tag_id, 0)) FROM before b), false) AS significant`)
        if (stored === undefined) return undefined
        // Those that were taken out; who is from here stands by its own word.
        yield* sql`DELETE FROM collection_items WHERE collection_id = ${stored.id} AND uri IS NOT NULL
          AND uri <> ALL (${collection.items.map(({ uri }) => uri)}::text[])`
        return stored
      })

      const keepItems = traced("RemoteFeaturedCollections.keepItems")(
        function*(owner: string, id: bigint, items: ReadonlyArray<ForeignItem>) {
          if (items.length === 0) return
          const at = yield* now
          const origin = URL.parse(owner)?.origin ?? ""
          // Its server answers for its own accounts; others' word would have to be asked for.
          const vouched = items.filter(({ account, authorization }) =>
            authorization !== undefined && URL.parse(account)?.origin === origin
          )
          yield* sql`INSERT INTO collection_items (id, collection_id, account_id, state, uri, approval_uri, position, created_at,
              updated_at)
            SELECT next_id(${at.getTime()}), ${id}, a.id, 'accepted', g.uri, g.approval, g.place, ${at}, ${at}
            FROM unnest(${vouched.map(({ uri }) => uri)}::text[], ${vouched.map(({ account }) => account)}::text[],
              ${
            vouched.map(({ authorization = "" }) => authorization)
          }::text[]) WITH ORDINALITY g (uri, account, approval, place)
            JOIN accounts a ON a.uri = g.account ON CONFLICT DO NOTHING`
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
      const answered = traced("RemoteFeaturedCollections.answered")(
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
        answered,
        keepItems,
        known,
        remove: traced("RemoteFeaturedCollections.remove")((owner, uri) =>
          Effect.asVoid(sql`DELETE FROM collections WHERE uri = ${uri} AND account_id = ${owner}`)
        ),
        removeItem: traced("RemoteFeaturedCollections.removeItem")((id, uri) =>
          Effect.asVoid(sql`DELETE FROM collection_items WHERE collection_id = ${id} AND uri = ${uri}`)
        ),
        store,
        withdrawn
      })
    })
  )
}
