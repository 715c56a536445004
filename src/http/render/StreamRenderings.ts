import { Effect, Layer } from "effect"
import { EncryptedMessages } from "../../services/encryption/EncryptedMessages.ts"
import { markedTimelines, Markers } from "../../services/feeds/Markers.ts"
import { Renderings } from "../streaming/Renderings.ts"
import type { EncryptedMessage } from "../wire/EncryptedMessage.ts"
import { json } from "../wire/Keys.ts"
import { AnnouncementViews } from "./AnnouncementViews.ts"
import { ConversationViews } from "./ConversationViews.ts"
import { encryptedMessageValues } from "./EncryptedMessageValues.ts"
import { markersJson } from "./MarkersJson.ts"
import { NotificationViews } from "./NotificationViews.ts"
import { StatusViews } from "./StatusViews.ts"

/** Renders stream events by the same views as the API. */
export const layer = Layer.effect(
  Renderings,
  Effect.gen(function*() {
    const announcements = yield* AnnouncementViews
    const messages = yield* EncryptedMessages
    const markers = yield* Markers
    const statuses = yield* StatusViews
    const notifications = yield* NotificationViews
    const conversations = yield* ConversationViews
    const orUndefined = <A, R>(effect: Effect.Effect<A, { readonly _tag: "RecordNotFound" }, R>) =>
      Effect.catchTag(effect, "RecordNotFound", () => Effect.succeed(undefined))
    return Renderings.of({
      status: statuses.renderFor,
      notification: (accountId, notificationId) =>
        orUndefined(notifications.renderOne(accountId, notificationId, "notifications")),
      announcement: announcements.forStreams,
      announcementReaction: announcements.reactionForStreams,
      encryptedMessage: (id) =>
        Effect.map(messages.find(id), (found) => found && json<EncryptedMessage>(encryptedMessageValues(found))),
      markers: (accountId) => Effect.map(markers.of(accountId, markedTimelines), markersJson),
      conversation: (accountId, conversationId) =>
        orUndefined(conversations.renderOne(accountId, conversationId, "home"))
    })
  })
).pipe(Layer.provide([AnnouncementViews.layer, ConversationViews.layer, NotificationViews.layer, StatusViews.layer]))
