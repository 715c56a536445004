import { Context, Effect, Layer, Option, PubSub, Schema, type Scope } from "effect"
import { SqlClient } from "effect/sql"
import { rowKinds, wholeKinds } from "../database/CachedTables.ts"
import { AccountId, IdFromString, StatusId } from "../database/Ids.ts"

const Account = IdFromString.pipe(Schema.decodeTo(AccountId))
const Status = IdFromString.pipe(Schema.decodeTo(StatusId))

/** Invalidates cached values that were derived from changed rows; only `RowChanges` publishes it. */
export const Change = Schema.TaggedStruct("Changed", {
  kind: Schema.Literals([...rowKinds, ...wholeKinds]),
  ids: Schema.Array(IdFromString)
})
export type Change = typeof Change.Type

/**
 * Messages between nodes. Every node receives every message, including its own. Messages are hints: they may be lost or
 * arrive twice, and receivers read the truth from Postgres.
 */
export const BroadcastMessage = Schema.Union([
  /**
   * A new or edited status for the home timelines of `accountIds`, for `lists`, and for the public streams `channels`
   * ("public:local", "hashtag:x"). May be split into several messages; the first one has the author among its accounts.
   * `editedAt` is the time of the edit, in milliseconds since 1970. A receiver that reads a later edit stays silent:
   * that edit has its own message.
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
    /** Absent in messages of older nodes. */
    authorId: Schema.optionalKey(Account),
    accountIds: Schema.Array(Account),
    lists: Schema.optionalKey(Schema.Array(IdFromString)),
    channels: Schema.Array(Schema.String)
  }),
  Schema.TaggedStruct("NotificationCreated", {
    accountId: Account,
    notificationId: IdFromString,
    /** Type of the notification if only clients that list the type receive it. */
    onDemand: Schema.optionalKey(Schema.String)
  }),
  /** Filtered notifications of an account were merged into its notifications. */
  Schema.TaggedStruct("NotificationsMerged", { accountId: Account }),
  /** An account dismissed or cleared notifications. */
  Schema.TaggedStruct("NotificationsDismissed", { accountId: Account }),
  /** `conversationId` is the id of the row in `account_conversations`. */
  Schema.TaggedStruct("ConversationChanged", { accountId: Account, conversationId: IdFromString }),
  Schema.TaggedStruct("FiltersChanged", { accountId: Account }),
  /** Read markers of an account changed. */
  Schema.TaggedStruct("MarkersSaved", { accountId: Account }),
  /** An announcement was published, changed or taken down. */
  Schema.TaggedStruct("AnnouncementEvent", {
    announcementId: IdFromString,
    event: Schema.Literals(["announcement", "announcement.delete"])
  }),
  /** The count of one reaction to an announcement changed. */
  Schema.TaggedStruct("AnnouncementReaction", { announcementId: IdFromString, name: Schema.String }),
  /** An encrypted message for the device that owns a token. */
  Schema.TaggedStruct("MessageEncrypted", {
    accountId: IdFromString,
    tokenId: IdFromString,
    messageId: IdFromString
  }),
  /** Closes the sockets of these tokens and accounts at once, and evicts the tokens from caches. */
  Schema.TaggedStruct("Revoked", { tokenIds: Schema.Array(IdFromString), accountIds: Schema.Array(Account) }),
  Change
])
export type BroadcastMessage = typeof BroadcastMessage.Type

/** Maximum queued messages of a subscriber; beyond it the oldest are dropped, as if the connection was lost. */
const broadcastBacklogMax = 16_384

type Listener = (message: BroadcastMessage) => void

/** Changes published by the current work; undefined if no caller collects them. */
const Published = Context.Reference<Array<Change> | undefined>("services/Broadcast/Published", {
  defaultValue: () => undefined
})

/**
 * Runs `work`. Returns its result with the changes that it published, so that a caller on another node does not read
 * stale caches.
 */
export const withChanges = <A, E, R>(
  work: Effect.Effect<A, E, R>
): Effect.Effect<{ readonly response: A; readonly changes: ReadonlyArray<Change> }, E, R> =>
  Effect.suspend(() => {
    const changes: Array<Change> = []
    return Effect.map(Effect.provideService(work, Published, changes), (response) => ({ response, changes }))
  })

/**
 * Called instead of a publish inside of an open transaction. Receivers would read and cache the rows from before the
 * commit. Set by tests and the simulation to detect such calls; servers do not check.
 */
export const UncommittedPublish = Context.Reference<((message: BroadcastMessage) => Effect.Effect<void>) | undefined>(
  "murmuration/services/events/Broadcast/UncommittedPublish",
  { defaultValue: () => undefined }
)

/** Returns a wrapper that checks `publish` by `UncommittedPublish`, for the database of the current context. */
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

/** Local end of the bus: messages that this process publishes or receives. `guarded` wraps its `publish`. */
export const makeHub = Effect.gen(function*() {
  const hub = yield* PubSub.sliding<BroadcastMessage>(broadcastBacklogMax)
  const listeners = new Set<Listener>()
  return {
    guarded: yield* makeGuard,
    receive: (message: BroadcastMessage) =>
      Effect.withFiber((fiber) => {
        for (const listener of listeners) listener(message)
        if (message._tag === "Changed") fiber.getRef(Published)?.push(message)
        return Effect.asVoid(PubSub.publish(hub, message))
      }),
    subscribe: PubSub.subscribe(hub),
    onMessage: (listener: Listener) =>
      Effect.asVoid(Effect.acquireRelease(
        Effect.sync(() => listeners.add(listener)),
        () => Effect.sync(() => listeners.delete(listener))
      ))
  }
})

/**
 * The bus between nodes. `publish` never fails and never waits for receivers. Inside of a transaction, call it in
 * `sql.afterCommit`.
 */
export class Broadcast extends Context.Service<Broadcast, {
  readonly publish: (message: BroadcastMessage) => Effect.Effect<void>
  /** Messages published after the subscription began. */
  readonly subscribe: Effect.Effect<PubSub.Subscription<BroadcastMessage>, never, Scope.Scope>
  /** Calls `listener` before `publish` returns, until the scope closes. */
  readonly onMessage: (listener: Listener) => Effect.Effect<void, never, Scope.Scope>
  /** False while messages of other nodes may be missed; caches must then expire early. */
  readonly connected: Effect.Effect<boolean>
}>()("murmuration/services/events/Broadcast") {
  static readonly layerMemory = Layer.effect(
    Broadcast,
    Effect.gen(function*() {
      const { guarded, receive, onMessage, subscribe } = yield* makeHub
      return Broadcast.of({ publish: guarded(receive), subscribe, onMessage, connected: Effect.succeed(true) })
    })
  )
}
