import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { AccountId } from "../../database/Ids.ts"
import { rowsOf } from "../../database/Rows.ts"
import { ServerConfig } from "../../instance/ServerConfig.ts"
import { Fanouts } from "../../intents/Fanouts.ts"
import type { OutgoingActivity } from "../../intents/Intent.ts"
import { traced } from "../../runtime/Traced.ts"
import * as CollectionActivities from "../documents/CollectionActivities.ts"
import { authorizationDocument } from "../documents/CollectionDocument.ts"
import * as LocalIds from "../LocalIds.ts"
import { type HostNames, Outbox } from "./Outbox.ts"
import * as PairKey from "./PairKey.ts"

type Sent = Effect.Effect<HostNames, SqlError>

const requestRows = rowsOf(
  Schema.Struct({ id: Schema.BigInt, accountId: Schema.BigInt, uri: Schema.String, actorPath: LocalIds.ActorPath })
)
const elsewhereRows = rowsOf(Schema.Struct({ id: Schema.BigInt }))
const stampRows = rowsOf(
  Schema.Struct({ actorPath: LocalIds.ActorPath, collectionUri: Schema.String, ownerId: Schema.BigInt })
)

type CollectionNews = Extract<OutgoingActivity["leaves"], `${string}Collection` | `${string}Item`>

/**
 * Consent between local and remote accounts about collections (FEP-7aa9); use only inside a transaction of one of them.
 */
export class FeatureActivities extends Context.Service<FeatureActivities, {
  /** Sends FeatureRequests for pending items with remote accounts. */
  readonly request: (owner: bigint, collectionId: bigint, itemIds: ReadonlyArray<bigint>) => Sent
  /** Replies to a FeatureRequest; `itemId` is the accepted item, undefined for a rejection. */
  readonly respond: (account: bigint, asker: bigint, request: string, itemId: bigint | undefined) => Sent
  /** Sends a remote owner the revocation of a local account's consent. */
  readonly withdraw: (account: bigint, itemId: bigint) => Sent
  /** Enqueues news of a change for followers and for accounts in the collection. */
  readonly tell: (
    owner: bigint,
    leaves: CollectionNews,
    collectionId: bigint,
    itemId?: bigint,
    members?: ReadonlyArray<bigint>
  ) => Effect.Effect<void, SqlError>
}>()("murmuration/services/federation/outbox/FeatureActivities") {
  static readonly layerNoDeps = Layer.effect(
    FeatureActivities,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const config = yield* ServerConfig
      const fanouts = yield* Fanouts
      const outbox = yield* Outbox
      const none: HostNames = []

      const request = traced("FeatureActivities.request")(
        function*(owner: bigint, collectionId: bigint, itemIds: ReadonlyArray<bigint>) {
          if (!outbox.enabled || itemIds.length === 0) return none
          const rows = yield* requestRows(sql`SELECT i.id, i.account_id, a.uri, me.actor_path FROM collection_items i
            JOIN accounts a ON a.id = i.account_id AND a.uri IS NOT NULL JOIN accounts me ON me.id = ${owner}
            WHERE i.id = ANY (${itemIds}::bigint[]) AND i.state = 'pending'`)
          const hosts = yield* Effect.forEach(rows, ({ accountId, actorPath, id, uri }) => {
            const actor = LocalIds.actor(config, actorPath)
            const asked = `${actor}#feature_requests/${id}`
            const activity = CollectionActivities.requestFeature(
              actor,
              asked,
              uri,
              LocalIds.collection(config, owner, collectionId)
            )
            return Effect.andThen(
              sql`UPDATE collection_items SET request_uri = ${asked} WHERE id = ${id}`,
              outbox.toAccounts({ senderId: owner, about: PairKey.pairKey(owner, accountId), activity }, [accountId])
            )
          })
          return [...new Set(hosts.flat())]
        }
      )

      const respond = traced("FeatureActivities.respond")(
        function*(account: bigint, asker: bigint, asked: string, itemId: bigint | undefined) {
          const parties = yield* outbox.parties(account, asker)
          if (parties === undefined) return none
          const number = String(itemId ?? (yield* Clock.currentTimeMillis))
          const authorization = itemId && LocalIds.featureAuthorization(config, account, itemId)
          const activity = CollectionActivities.featureResponse(
            parties.actor,
            parties.other,
            asked,
            number,
            authorization === 0n ? undefined : authorization
          )
          return yield* outbox.toAccounts(
            { senderId: account, about: PairKey.pairKey(account, asker), activity },
            [asker]
          )
        }
      )

      const withdraw = traced("FeatureActivities.withdraw")(function*(account: bigint, itemId: bigint) {
        if (!outbox.enabled) return none
        const [row] = yield* stampRows(sql`SELECT me.actor_path, c.uri AS collection_uri, c.account_id AS owner_id
          FROM collection_items i JOIN collections c ON c.id = i.collection_id AND c.uri IS NOT NULL
          JOIN accounts me ON me.id = i.account_id WHERE i.id = ${itemId} AND i.account_id = ${account}`)
        if (row === undefined) return none
        const actor = LocalIds.actor(config, row.actorPath)
        const id = LocalIds.featureAuthorization(config, account, itemId)
        const activity = CollectionActivities.deleteAuthorization(
          actor,
          authorizationDocument(id, actor, row.collectionUri)
        )
        return yield* outbox.toAccounts(
          { senderId: account, about: PairKey.pairKey(account, row.ownerId), activity },
          [row.ownerId]
        )
      })

      const tell = traced("FeatureActivities.tell")(
        function*(owner: bigint, leaves: CollectionNews, id: bigint, itemId = 0n, members: ReadonlyArray<bigint> = []) {
          if (!outbox.enabled) return
          const others = yield* elsewhereRows(sql`SELECT id FROM accounts WHERE domain IS NOT NULL AND (
            id = ANY (${members}::bigint[]) OR id IN (SELECT account_id FROM collection_items
              WHERE collection_id = ${id} AND state IN ('pending', 'accepted')))`)
          yield* fanouts.enqueue(AccountId.make(owner), {
            _tag: "deliver",
            leaves,
            number: `${itemId === 0n ? id : itemId}-${yield* Clock.currentTimeMillis}`,
            target: [id, itemId, ...others.map((one) => one.id)].join(" ")
          })
        }
      )
      return FeatureActivities.of({ request, respond, withdraw, tell })
    })
  )
  static readonly layer = FeatureActivities.layerNoDeps.pipe(Layer.provide([Fanouts.layer, Outbox.layer]))
}
