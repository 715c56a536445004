import { Effect } from "effect"
import type { NotificationRecord } from "../../services/feeds/Notifications.ts"
import type { StatusReactions } from "../../services/statuses/StatusReactions.ts"
import type { Values } from "../wire/Keys.ts"
import type { Notification } from "../wire/Notification.ts"

/** Returns the emoji of reaction notifications, by notification id; one query, or none without such notifications. */
export const reactionsIn = (reactions: StatusReactions["Service"]) =>
  Effect.fnUntraced(function*(records: ReadonlyArray<NotificationRecord>) {
    const notified = records.flatMap(({ fromAccountId: accountId, id, statusId, type }) =>
      type === "pleroma:emoji_reaction" && statusId !== undefined ? [{ id, accountId, statusId }] : []
    )
    const found = yield* reactions.last(notified)
    return new Map(notified.flatMap(({ accountId, id, statusId }) => {
      const last = found.get(`${accountId} ${statusId}`)
      const emoji: Pick<Values<Notification>, "emoji" | "emojiUrl"> | undefined = last &&
        { emoji: last.name, emojiUrl: last.url }
      return emoji === undefined ? [] : [[id, emoji] as const]
    }))
  })
