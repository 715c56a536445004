import { Effect } from "effect"
import type { AccountId } from "../../services/database/Ids.ts"
import type { BroadcastMessage } from "../../services/events/Broadcast.ts"
import { Listeners } from "../../services/feeds/Listeners.ts"
import { TimelineAccess } from "../../services/feeds/TimelineAccess.ts"
import type { FilterContext } from "../../services/filters/Filter.ts"
import { editedAtOf } from "../wire/StatusJson.ts"
import { type Channel, listTopic, type OwnChannel, ownTopic } from "./Channels.ts"
import type { Connection, Registry } from "./Registry.ts"
import { Renderings } from "./Renderings.ts"
import { StreamEvent } from "./StreamEvent.ts"

/** An event for one connection. */
export interface RoutedEvent {
  readonly connection: Connection
  readonly channel: Channel
  readonly event: StreamEvent
}

/** Events of a message; the listeners are looked up during iteration. */
export type RoutedEvents = Iterable<RoutedEvent>

type Message<Tag extends BroadcastMessage["_tag"]> = Extract<BroadcastMessage, { readonly _tag: Tag }>

/**
 * Turns broadcast messages into events for the listeners on this node (streaming.md sections 4 and 5). A status is
 * rendered once, in a fixed number of queries for any number of listeners. Viewers who see the same share one array of
 * bytes.
 */
export const make = Effect.fnUntraced(function*(registry: Registry) {
  const renderings = yield* Renderings
  const listeners = yield* Listeners
  const access = yield* TimelineAccess

  const listens = (channel: OwnChannel, accountId: bigint) => registry.listeners(ownTopic(channel, accountId)).size > 0

  const sendings = function*(topic: string, event: StreamEvent): Generator<RoutedEvent> {
    for (const [connection, channel] of registry.listeners(topic)) yield { connection, channel, event }
  }
  /** Routes to `user:notification`, and to `user` connections whose token may read notifications. */
  const notifications = function*(accountId: bigint, event: StreamEvent): Generator<RoutedEvent> {
    for (const routedEvent of sendings(ownTopic("user", accountId), event)) {
      if (routedEvent.connection.hearsNotifications) yield routedEvent
    }
    yield* sendings(ownTopic("user:notification", accountId), event)
  }
  const listensForAny = (accountId: bigint) => listens("user:notification", accountId) || listens("user", accountId)

  const status = Effect.fnUntraced(function*(message: Message<"StatusEvent">) {
    const { accountIds, channels, editedAt, event, lists = [], statusId } = message
    const home = accountIds.filter((id) => listens("user", id))
    const listed = lists.flatMap((list) => Array.from(registry.listeners(listTopic(list))))
    const readers = listed.length === 0
      ? home
      : [...new Set([...home, ...listed.map(([{ accountId }]) => accountId)])]
    const open = new Set(
      channels.flatMap((channel) => Array.from(registry.listeners(channel).keys(), ({ accountId }) => accountId))
    )
    const everybody = (others: ReadonlyArray<AccountId>) => [...new Set([...open, ...readers, ...others])]
    const reception = listeners.deliveryFacts(statusId, [...open])
    let mentioned: ReadonlyArray<AccountId> = []
    /** Accounts that an earlier message of the same edit has reached, if their tokens may read notifications. */
    let notifiedIds: ReadonlySet<bigint> = new Set()
    let withheld: ReadonlySet<bigint> = new Set()
    let views: Effect.Success<ReturnType<typeof renderings.status>>
    if (event === "status.update") {
      const found = yield* reception
      if (found === undefined) return nothing
      withheld = found.withheld
      // The message that names the author is the first of a status; later ones only add followers.
      if (accountIds.includes(found.authorId)) mentioned = found.mentioned.filter(listensForAny)
      else notifiedIds = new Set(found.mentioned)
      views = yield* renderings.status(statusId, everybody(mentioned))
    } else if (open.size > 0) {
      const [found, rendered] = yield* Effect.all([reception, renderings.status(statusId, everybody([]))], {
        concurrency: 2
      })
      if (found === undefined) return nothing
      withheld = found.withheld
      views = rendered
    } else views = yield* renderings.status(statusId, readers)

    const origin = channels.some((channel) => /^(?:public|hashtag):local(?::|$)/.test(channel)) ? "local" : "remote"
    const withoutAccess = {
      public: yield* access.withoutAccess("liveFeeds", origin, [...open]),
      hashtag: yield* access.withoutAccess("hashtagFeeds", origin, [...open])
    }
    const events = new Map<string, StreamEvent>()
    for (const text of new Set(Array.from(views.values(), ({ text }) => text))) {
      if (!hasNewerEdit(text, editedAt)) events.set(text, new StreamEvent(event, text))
    }
    /** Returns the event for an account, unless its filters hide it in that context (S-261). */
    const eventFor = (accountId: AccountId, context: FilterContext) => {
      const view = views.get(accountId)
      return view === undefined || view.hiddenIn.includes(context) ? undefined : events.get(view.text)
    }

    const followers = new Set<bigint>(home)
    return (function*(): Generator<RoutedEvent> {
      for (const id of home) {
        const shown = eventFor(id, "home")
        if (shown === undefined) continue
        for (const routedEvent of sendings(ownTopic("user", id), shown)) {
          if (!notifiedIds.has(id) || !routedEvent.connection.hearsNotifications) yield routedEvent
        }
      }
      for (const id of mentioned) {
        const shown = eventFor(id, "notifications")
        if (shown === undefined) continue
        yield* followers.has(id) ? sendings(ownTopic("user:notification", id), shown) : notifications(id, shown)
      }
      for (const [connection, channel] of listed) {
        const shown = eventFor(connection.accountId, "home")
        if (shown !== undefined) yield { connection, channel, event: shown }
      }
      for (const topic of channels) {
        const kind = withoutAccess[topic.startsWith("hashtag:") ? "hashtag" : "public"]
        for (const [connection, channel] of registry.listeners(topic)) {
          const { accountId } = connection
          const shown = withheld.has(accountId) || kind.has(accountId) ? undefined : eventFor(accountId, "public")
          if (shown !== undefined) yield { connection, channel, event: shown }
        }
      }
    })()
  })

  const deleted = Effect.fnUntraced(
    function*({ accountIds, authorId, channels, lists = [], statusId }: Message<"StatusDeleted">) {
      const event = new StreamEvent("delete", String(statusId))
      const topics = [...accountIds.map((id) => ownTopic("user", id)), ...lists.map(listTopic), ...channels]
      const routed = topics.flatMap((topic) => Array.from(sendings(topic, event)))
      if (authorId === undefined) return routed
      const accounts = new Set(routed.map(({ connection }) => connection.accountId))
      const blocked = yield* listeners.blockedBy(authorId, [...accounts])
      return routed.filter(({ connection }) => !blocked.has(connection.accountId))
    }
  )

  const notification = Effect.fnUntraced(
    function*({ accountId, notificationId, onDemand }: Message<"NotificationCreated">) {
      const text = yield* renderings.notification(accountId, notificationId)
      if (text === undefined) return nothing
      const routed = notifications(accountId, new StreamEvent("notification", text))
      return onDemand === undefined
        ? routed
        : [...routed].filter(({ connection }) => connection.supportedTypes.has(onDemand))
    }
  )

  const conversation = Effect.fnUntraced(function*({ accountId, conversationId }: Message<"ConversationChanged">) {
    const text = yield* renderings.conversation(accountId, conversationId)
    return text === undefined ? nothing : sendings(ownTopic("direct", accountId), new StreamEvent("conversation", text))
  })

  /** Routes an event to every `user` channel. */
  const everywhere = function*(event: StreamEvent): Generator<RoutedEvent> {
    for (const accountId of registry.accounts()) yield* sendings(ownTopic("user", accountId), event)
  }
  const announcement = Effect.fnUntraced(function*({ announcementId, event }: Message<"AnnouncementEvent">) {
    if (event === "announcement.delete") return everywhere(new StreamEvent(event, String(announcementId)))
    const text = yield* renderings.announcement(announcementId)
    return text === undefined ? nothing : everywhere(new StreamEvent(event, text))
  })
  const reaction = Effect.fnUntraced(function*({ announcementId, name }: Message<"AnnouncementReaction">) {
    const text = yield* renderings.announcementReaction(announcementId, name)
    return text === undefined ? nothing : everywhere(new StreamEvent("announcement.reaction", text))
  })

  /** Routes an encrypted message to its device only. */
  const encrypted = Effect.fnUntraced(function*({ accountId, messageId, tokenId }: Message<"MessageEncrypted">) {
    const text = yield* renderings.encryptedMessage(messageId)
    if (text === undefined) return nothing
    const routed = [...sendings(ownTopic("user", accountId), new StreamEvent("encrypted_message", text))]
    return routed.filter(({ connection }) => connection.tokenId === tokenId)
  })

  /** Returns an account's streams that ask for an event beyond Mastodon's. */
  const asking = (event: "marker" | "notifications_dismissed" | "relations", accountId: bigint) =>
    [...registry.listeners(ownTopic("user", accountId))].filter(([{ supportedEvents }]) => supportedEvents.has(event))
  const markers = Effect.fnUntraced(function*({ accountId }: Message<"MarkersSaved">) {
    const event = new StreamEvent("marker", yield* renderings.markers(accountId))
    return asking("marker", accountId).map(([connection, channel]) => ({ connection, channel, event }))
  })

  /**
   * Tells accounts that their follows, requests or blocks changed. The event names no account: a change may be about
   * several that have nothing to do with one another.
   */
  const relations = function*({ ids }: Message<"Changed">): Generator<RoutedEvent> {
    for (const id of ids) {
      for (const [connection, channel] of asking("relations", id)) {
        yield { connection, channel, event: relationsChanged }
      }
    }
  }

  /** Returns true if any local listener may be affected by a message. */
  const hasListeners = (message: BroadcastMessage): boolean => {
    switch (message._tag) {
      case "StatusEvent":
        return message.channels.some((channel) => registry.listeners(channel).size > 0) ||
          message.lists?.some((list) => registry.listeners(listTopic(list)).size > 0) === true ||
          message.accountIds.some((id) => listens("user", id)) ||
          (message.event === "status.update" && registry.size > 0)
      case "StatusDeleted":
      case "AnnouncementEvent":
      case "AnnouncementReaction":
        return registry.size > 0
      case "NotificationCreated":
      case "NotificationsMerged":
        return listensForAny(message.accountId)
      case "ConversationChanged":
        return listens("direct", message.accountId)
      case "FiltersChanged":
      case "MessageEncrypted":
        return listens("user", message.accountId)
      case "MarkersSaved":
        return asking("marker", message.accountId).length > 0
      case "NotificationsDismissed":
        return asking("notifications_dismissed", message.accountId).length > 0
      case "Changed":
        return message.kind === "relations" && message.ids.some((id) => asking("relations", id).length > 0)
      case "Revoked":
        return false
    }
  }

  const deliveryOf = (message: BroadcastMessage): Effect.Effect<RoutedEvents> => {
    switch (message._tag) {
      case "StatusEvent":
        return status(message)
      case "StatusDeleted":
        return deleted(message)
      case "NotificationCreated":
        return notification(message)
      case "NotificationsMerged":
        return Effect.succeed(notifications(message.accountId, new StreamEvent("notifications_merged", "1")))
      case "ConversationChanged":
        return conversation(message)
      case "FiltersChanged":
        return Effect.succeed(
          sendings(ownTopic("user", message.accountId), new StreamEvent("filters_changed", undefined))
        )
      case "MarkersSaved":
        return markers(message)
      case "NotificationsDismissed":
        return Effect.succeed(
          asking("notifications_dismissed", message.accountId).map(([connection, channel]) => ({
            connection,
            channel,
            event: notificationsDismissed
          }))
        )
      case "MessageEncrypted":
        return encrypted(message)
      case "AnnouncementEvent":
        return announcement(message)
      case "AnnouncementReaction":
        return reaction(message)
      case "Changed":
        return Effect.succeed(message.kind === "relations" ? relations(message) : nothing)
      case "Revoked":
        return Effect.succeed(nothing)
    }
  }
  return { hasListeners, deliveryOf }
})

export const nothing: RoutedEvents = []
const notificationsDismissed = new StreamEvent("notifications_dismissed", undefined)
const relationsChanged = new StreamEvent("relations", undefined)
/** Returns true if a status was edited again after the announced edit. */
const hasNewerEdit = (status: string, editedAt: number | undefined) =>
  editedAt !== undefined && (editedAtOf(status) ?? 0) > editedAt
