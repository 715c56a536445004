import { Context, Effect, Layer, Option, PubSub, Schema, type Scope } from "effect"
import { SqlClient } from "effect/sql"
import { AccountId, IdFromString, StatusId } from "./Ids.ts"

const Account = IdFromString.pipe(Schema.decodeTo(AccountId))
const Status = IdFromString.pipe(Schema.decodeTo(StatusId))

/**
 * Rows changed: caches do not believe what they made of them. Kinds without ids are one thing that changed as a whole.
 * A `user` changed when its state did (confirmed, disabled). `moderation` is what staff did to an account, a `card` the
 * preview of a page; `roles` are what they allow.
 */
export const Change = Schema.TaggedStruct("Changed", {
  kind: Schema.Literals([
    "account",
    "status",
    "relations",
    "moderation",
    "instance",
    "user",
    "emojis",
    "domains",
    "ip_blocks",
    "card",
    "roles",
    "spam_rules"
  ]),
  ids: Schema.Array(IdFromString)
})
export type Change = typeof Change.Type

/**
 * What nodes tell one another. Every node hears every message, its own too. Messages are hints: they may be lost or
 * come twice, and a receiver reads the truth from Postgres.
 */
export const BroadcastMessage = Schema.Union([
  /**
   * A new or edited status for the homes of `accountIds`, for `lists`, and for the public streams `channels` ("public:local", "hashtag:x").
   * It may take several messages; the first names the author among the accounts. `editedAt` is the edit that it tells of, in
   * milliseconds since 1970: who reads a later one says nothing, for that one has a message of its own.
   */
  Schema.TaggedStruct("StatusEvent", {
    event: Schema.Literals(["update", "status.update"]),
    statusId: Status,
    accountIds: Schema.Array(Account),
    lists: Schema.optionalKey(Schema.Array(IdFromString)),
    channels: Schema.Array(Schema.String),
    editedAt: Schema.optionalKey(Schema.Int)
  }),
  Schema.TaggedStruct("StatusDeleted", {
    statusId: Status,
    /** Absent in messages of nodes that do not name the author yet. */
    authorId: Schema.optionalKey(Account),
    accountIds: Schema.Array(Account),
    lists: Schema.optionalKey(Schema.Array(IdFromString)),
    channels: Schema.Array(Schema.String)
  }),
  Schema.TaggedStruct("NotificationCreated", {
    accountId: Account,
    notificationId: IdFromString,
    /** Its type, where only those are told who know it. */
    onDemand: Schema.optionalKey(Schema.String)
  }),
  /** Notifications of an account that waited are among its others now. */
  Schema.TaggedStruct("NotificationsMerged", { accountId: Account }),
  /** `conversationId` is the id of the row in `account_conversations`. */
  Schema.TaggedStruct("ConversationChanged", { accountId: Account, conversationId: IdFromString }),
  Schema.TaggedStruct("FiltersChanged", { accountId: Account }),
  /** An account's reading positions changed. */
  Schema.TaggedStruct("MarkersSaved", { accountId: Account }),
  /** An announcement for everybody: published or changed, or taken down. */
  Schema.TaggedStruct("AnnouncementEvent", {
    announcementId: IdFromString,
    event: Schema.Literals(["announcement", "announcement.delete"])
  }),
  /** The reactions of one name to an announcement are more or fewer. */
  Schema.TaggedStruct("AnnouncementReaction", { announcementId: IdFromString, name: Schema.String }),
  /** An encrypted message for the device that a token is. */
  Schema.TaggedStruct("MessageEncrypted", {
    accountId: IdFromString,
    tokenId: IdFromString,
    messageId: IdFromString
  }),
  /** Sockets of these tokens or accounts close at once, and caches of tokens forget them. */
  Schema.TaggedStruct("Revoked", { tokenIds: Schema.Array(IdFromString), accountIds: Schema.Array(Account) }),
  Change
])
export type BroadcastMessage = typeof BroadcastMessage.Type

/** Messages that one subscriber may have waiting; beyond it the oldest are dropped, as a lost connection would. */
const broadcastBacklogMax = 16_384

type Listener = (message: BroadcastMessage) => void

/** The changes that the work which runs has published, where somebody wants to know them. */
const Published = Context.Reference<Array<Change> | undefined>("services/Broadcast/Published", {
  defaultValue: () => undefined
})

/** Does work and answers the changes that it published, too. A caller on another node must not read what was before. */
export const withChanges = <A, E, R>(
  work: Effect.Effect<A, E, R>
): Effect.Effect<{ readonly answer: A; readonly changes: ReadonlyArray<Change> }, E, R> =>
  Effect.suspend(() => {
    const changes: Array<Change> = []
    return Effect.map(Effect.provideService(work, Published, changes), (answer) => ({ answer, changes }))
  })

/**
 * Runs instead of a publish inside of an open transaction: a receiver would read the rows from before the commit and cache
 * them. Tests and the simulation set it, so that no such publish stays unnoticed. Absent: servers do not check.
 */
export const UncommittedPublish = Context.Reference<((message: BroadcastMessage) => Effect.Effect<void>) | undefined>(
  "murmuration/services/Broadcast/UncommittedPublish",
  { defaultValue: () => undefined }
)

/** Guards a way to publish by `UncommittedPublish`, for the database of the current context. */
const makeGuard = Effect.gen(function*() {
  const refuse = yield* UncommittedPublish
  const sql = Option.getOrUndefined(yield* Effect.serviceOption(SqlClient.SqlClient))
  return (publish: (message: BroadcastMessage) => Effect.Effect<void>) => {
    if (refuse === undefined || sql === undefined) return publish
    return (message: BroadcastMessage) =>
      Effect.flatMap(
        Effect.serviceOption(sql.transactionService),
        ({ _tag: inside }) => inside === "Some" ? refuse(message) : publish(message)
      )
  }
})

/** Local end of the bus: messages that one process publishes or receives. `guarded` wraps its `publish`. */
export const makeHub = Effect.gen(function*() {
  const hub = yield* PubSub.sliding<BroadcastMessage>(broadcastBacklogMax)
  const listeners = new Set<Listener>()
  return {
    guarded: yield* makeGuard,
    hear: (message: BroadcastMessage) =>
      Effect.withFiber((fiber) => {
        for (const listener of listeners) listener(message)
        if (message._tag === "Changed") fiber.getRef(Published)?.push(message)
        return Effect.asVoid(PubSub.publish(hub, message))
      }),
    subscribe: PubSub.subscribe(hub),
    heard: (listener: Listener) =>
      Effect.asVoid(Effect.acquireRelease(
        Effect.sync(() => listeners.add(listener)),
        () => Effect.sync(() => listeners.delete(listener))
      ))
  }
})

/**
 * The bus between nodes. `publish` never fails and never waits for receivers. Inside of a transaction it belongs into
 * `sql.afterCommit`.
 */
export class Broadcast extends Context.Service<Broadcast, {
  readonly publish: (message: BroadcastMessage) => Effect.Effect<void>
  /** Everything published after the subscription began. */
  readonly subscribe: Effect.Effect<PubSub.Subscription<BroadcastMessage>, never, Scope.Scope>
  /** Calls `listener` before `publish` goes on, for as long as the scope is open. */
  readonly heard: (listener: Listener) => Effect.Effect<void, never, Scope.Scope>
  /** False while other nodes' messages can be missed, so that caches must not be believed for long. */
  readonly connected: Effect.Effect<boolean>
}>()("murmuration/services/Broadcast") {
  static readonly layerMemory = Layer.effect(
    Broadcast,
    Effect.gen(function*() {
      const { guarded, hear, heard, subscribe } = yield* makeHub
      return Broadcast.of({ publish: guarded(hear), subscribe, heard, connected: Effect.succeed(true) })
    })
  )
}
