import { Context, Effect, Layer, PubSub, Schema, type Scope } from "effect"
import { AccountId, IdFromString, StatusId } from "./Ids.ts"

const Account = IdFromString.pipe(Schema.decodeTo(AccountId))
const Status = IdFromString.pipe(Schema.decodeTo(StatusId))

/**
 * What nodes tell one another. Every node hears every message, its own too. Messages are hints: they may be lost or
 * come twice, and a receiver reads the truth from Postgres.
 */
export const BroadcastMessage = Schema.Union([
  /**
   * A new or edited status for the homes of `accountIds` and the public streams `channels` ("public:local", "hashtag:x").
   * It may take several messages; the first names the author among the accounts. `editedAt` is the edit that it tells of, in
   * milliseconds since 1970: who reads a later one says nothing, for that one has a message of its own.
   */
  Schema.TaggedStruct("StatusEvent", {
    event: Schema.Literals(["update", "status.update"]),
    statusId: Status,
    accountIds: Schema.Array(Account),
    channels: Schema.Array(Schema.String),
    editedAt: Schema.optionalKey(Schema.Int)
  }),
  Schema.TaggedStruct("StatusDeleted", {
    statusId: Status,
    accountIds: Schema.Array(Account),
    channels: Schema.Array(Schema.String)
  }),
  Schema.TaggedStruct("NotificationCreated", { accountId: Account, notificationId: IdFromString }),
  /** `conversationId` is the id of the row in `account_conversations`. */
  Schema.TaggedStruct("ConversationChanged", { accountId: Account, conversationId: IdFromString }),
  Schema.TaggedStruct("FiltersChanged", { accountId: Account }),
  /** Sockets of these tokens or accounts close at once, and caches of tokens forget them. */
  Schema.TaggedStruct("Revoked", { tokenIds: Schema.Array(IdFromString), accountIds: Schema.Array(Account) }),
  /** Rows changed: caches forget what they hold of them. A `user` changed when its state did (confirmed, disabled). */
  Schema.TaggedStruct("Changed", {
    kind: Schema.Literals(["account", "status", "relations", "instance", "user", "emojis", "domains"]),
    ids: Schema.Array(IdFromString)
  })
])
export type BroadcastMessage = typeof BroadcastMessage.Type

/** Messages that one subscriber may have waiting; beyond it the oldest are dropped, as a lost connection would. */
export const broadcastBacklogMax = 16_384

/** The bus between nodes. `publish` never fails and never waits for receivers. */
export class Broadcast extends Context.Service<Broadcast, {
  readonly publish: (message: BroadcastMessage) => Effect.Effect<void>
  /** Everything published after the subscription began. */
  readonly subscribe: Effect.Effect<PubSub.Subscription<BroadcastMessage>, never, Scope.Scope>
  /** False while other nodes' messages can be missed, so that caches must not be believed for long. */
  readonly connected: Effect.Effect<boolean>
}>()("murmuration/services/Broadcast") {
  static readonly layerMemory = Layer.effect(
    Broadcast,
    Effect.gen(function*() {
      const hub = yield* PubSub.sliding<BroadcastMessage>(broadcastBacklogMax)
      return Broadcast.of({
        publish: (message) => Effect.asVoid(PubSub.publish(hub, message)),
        subscribe: PubSub.subscribe(hub),
        connected: Effect.succeed(true)
      })
    })
  )
}
