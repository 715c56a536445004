import { Context, Effect, Layer, Schema, Struct } from "effect"
import { SqlClient } from "effect/sql"
import { StoredCollection } from "../collections/Collection.ts"
import { Collections } from "../collections/Collections.ts"
import { rowsOf } from "../database/Rows.ts"
import { ServerConfig } from "../instance/ServerConfig.ts"
import * as Urls from "../instance/Urls.ts"
import { type ClientError, RecordNotFound } from "../runtime/Errors.ts"
import { traced } from "../runtime/Traced.ts"
import type { Viewer } from "../visibility/Viewer.ts"
import {
  authorizationDocument,
  collectionDocument,
  type CollectionFacts,
  itemDocument
} from "./documents/CollectionDocument.ts"
import type { Document } from "./documents/Vocabulary.ts"
import * as LocalIds from "./LocalIds.ts"

const nameRows = rowsOf(
  Schema.Struct({ id: Schema.BigInt, actorPath: LocalIds.ActorPath, uri: Schema.NullOr(Schema.String) })
)
const approvalRows = rowsOf(Schema.Struct({ id: Schema.BigInt, approvalUri: Schema.NullOr(Schema.String) }))
const authorizedRows = rowsOf(
  Schema.Struct({
    id: Schema.BigInt,
    accountId: Schema.BigInt,
    actorPath: LocalIds.ActorPath,
    collectionId: Schema.BigInt
  })
)
const StoredUri = StoredCollection.mapFields(Struct.pick(["id", "accountId", "uri"]))
const uriRows = rowsOf(StoredUri)

/** A collection as a document, and the id of its owner's actor. */
interface CollectionObject {
  readonly document: Document
  readonly actor: string
}

/** Collections of local accounts as documents, for viewers who may see them. */
export class CollectionObjects extends Context.Service<CollectionObjects, {
  readonly collection: (viewer: Viewer, id: bigint) => Effect.Effect<CollectionObject, RecordNotFound>
  /** Returns an item of an account's collection. */
  readonly item: (viewer: Viewer, accountId: bigint, id: bigint) => Effect.Effect<Document, ClientError>
  /** Returns a local account's consent to be in a collection. */
  readonly authorization: (accountId: bigint, itemId: bigint) => Effect.Effect<Document, RecordNotFound>
}>()("murmuration/services/federation/CollectionObjects") {
  static readonly layerNoDeps = Layer.effect(
    CollectionObjects,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const collections = yield* Collections
      const config = yield* ServerConfig

      const factsOf = Effect.fnUntraced(
        function*(viewer: Viewer, id: bigint): Effect.fn.Return<CollectionFacts, RecordNotFound> {
          const record = yield* collections.find(viewer, id)
          if (!record.local) return yield* new RecordNotFound()
          const accepted = record.items.filter(({ state }) => state === "accepted")
          const names = new Map(
            (yield* Effect.orDie(nameRows(sql`SELECT a.id, a.actor_path, a.uri FROM accounts a WHERE a.id = ANY (${[
              record.accountId,
              ...accepted.flatMap(({ accountId }) => accountId ?? [])
            ]}::bigint[])`))).map((row) => [row.id, row])
          )
          const approvals = new Map(
            (yield* Effect.orDie(approvalRows(sql`SELECT id, approval_uri FROM collection_items
            WHERE collection_id = ${id}`))).map((row) => [row.id, row.approvalUri])
          )
          const uriOf = (accountId: bigint) => {
            const row = names.get(accountId)
            return row === undefined ? "" : row.uri ?? LocalIds.actor(config, row.actorPath)
          }
          return {
            ...record,
            id: LocalIds.collection(config, record.accountId, id),
            url: record.discoverable
              ? Urls.collection(config, id)
              : LocalIds.collection(config, record.accountId, id),
            actor: uriOf(record.accountId),
            items: accepted.map((item) => ({
              id: LocalIds.collectionItem(config, record.accountId, item.id),
              account: uriOf(item.accountId ?? 0n),
              authorization: approvals.get(item.id) ??
                LocalIds.featureAuthorization(config, item.accountId ?? 0n, item.id),
              createdAt: item.createdAt
            }))
          }
        }
      )

      return CollectionObjects.of({
        collection: traced("CollectionObjects.collection")(function*(viewer, id) {
          const facts = yield* factsOf(viewer, id)
          return { document: collectionDocument(config, facts), actor: facts.actor }
        }),
        item: traced("CollectionObjects.item")(function*(viewer, accountId, id) {
          const [row] = yield* Effect.orDie(uriRows(sql`SELECT c.id, c.account_id, c.uri FROM collection_items i
            JOIN collections c ON c.id = i.collection_id WHERE i.id = ${id} AND c.account_id = ${accountId} AND c.local`))
          if (row === undefined) return yield* new RecordNotFound()
          const { items } = yield* factsOf(viewer, row.id)
          const item = items.find((one) => one.id === LocalIds.collectionItem(config, accountId, id))
          return item === undefined ? yield* new RecordNotFound() : itemDocument(item)
        }),
        authorization: traced("CollectionObjects.authorization")(function*(accountId, itemId) {
          const [item] = yield* Effect.orDie(authorizedRows(sql`SELECT i.id, i.account_id, a.actor_path, i.collection_id
            FROM collection_items i JOIN accounts a ON a.id = i.account_id AND a.domain IS NULL
            WHERE i.id = ${itemId} AND i.account_id = ${accountId} AND i.state = 'accepted'`))
          if (item === undefined) return yield* new RecordNotFound()
          const [collection] = yield* Effect.orDie(uriRows(sql`SELECT id, account_id, uri FROM collections
            WHERE id = ${item.collectionId}`))
          if (collection === undefined) return yield* new RecordNotFound()
          return authorizationDocument(
            LocalIds.featureAuthorization(config, accountId, itemId),
            LocalIds.actor(config, item.actorPath),
            collection.uri ?? LocalIds.collection(config, collection.accountId, collection.id)
          )
        })
      })
    })
  )
  static readonly layer = CollectionObjects.layerNoDeps.pipe(Layer.provide(Collections.layer))
}
