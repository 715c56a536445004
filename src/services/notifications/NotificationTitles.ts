import type { Messages } from "../languages/Messages.ts"
import type { NotificationType } from "./NotificationTypes.ts"

type Title = (say: Messages["say"], name: string) => string

/** Titles by type; `name` is the sender. */
const titles: Readonly<Record<NotificationType, Title>> = {
  mention: (say, name) => say("You were mentioned by {name}", { name }),
  status: (say, name) => say("{name} just posted", { name }),
  reblog: (say, name) => say("{name} boosted your post", { name }),
  favourite: (say, name) => say("{name} favourited your post", { name }),
  "pleroma:emoji_reaction": (say, name) => say("{name} reacted to your post", { name }),
  follow: (say, name) => say("{name} is now following you", { name }),
  "follow_request": (say, name) => say("{name} wants to follow you", { name }),
  poll: (say, name) => say("A poll by {name} has ended", { name }),
  update: (say, name) => say("{name} edited a post", { name }),
  quote: (say, name) => say("{name} quoted your post", { name }),
  "quoted_update": (say, name) => say("{name} edited a post that you quoted", { name }),
  "pending.reply": (say, name) => say("{name} wants to reply to your post", { name }),
  "pending.favourite": (say, name) => say("{name} wants to favourite your post", { name }),
  "pending.reblog": (say, name) => say("{name} wants to boost your post", { name }),
  "pending.quote": (say, name) => say("{name} wants to quote your post", { name }),
  "added_to_collection": (say, name) => say("{name} added you to a collection", { name }),
  "collection_update": (say, name) => say("{name} changed a collection that you are in", { name }),
  "admin.sign_up": (say, name) => say("{name} signed up", { name }),
  "admin.report": (say, name) => say("{name} submitted a report", { name }),
  "severed_relationships": (say) => say("You lost connections because of a moderation decision"),
  "moderation_warning": (say) => say("A moderator has a message about your account"),
  "annual_report": (say) => say("Your annual report is ready")
}

/** Returns the title for push notifications and for apps that do not know the type, in the language of the messages. */
export const notificationTitle = ({ say }: Messages, type: NotificationType, name: string): string =>
  titles[type](say, name)
