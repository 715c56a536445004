import type { Messages } from "../languages/Messages.ts"
import { cut, line } from "./Excerpts.ts"
import type { Email } from "./Mailer.ts"
import { withUnsubscribe } from "./UnsubscribeTexts.ts"

/** Maximum characters of a post in the e-mail. */
const excerptCharactersMax = 300

/** A notification in an e-mail. */
interface EmailedNotification {
  readonly title: string
  /** Text of the post; "" if the e-mail does not show it. */
  readonly text: string
  /** URL of the post or the account. */
  readonly url: string
}

interface About {
  readonly to: string
  /** Domain of the server, and its URL. */
  readonly server: string
  readonly publicUrl: string
  /** Oldest first; at least one. */
  readonly notifications: ReadonlyArray<EmailedNotification>
  /** True if there are further notifications. */
  readonly more: boolean
  readonly unsubscribe: string
}

/** Tells a user about notifications that came while the user was away. */
export const newNotifications = (
  { more, notifications, publicUrl, server, to, unsubscribe }: About
) =>
(words: Messages): Email => {
  const { say } = words
  const [first] = notifications
  const subject = notifications.length === 1 && first !== undefined ? line(first.title) : say("New notifications")
  return withUnsubscribe(
    {
      to,
      subject: `${subject} (${server})`,
      text: [
        ...notifications.map(({ text, title, url }) =>
          [title, cut(text, excerptCharactersMax), url].filter((part) => part !== "").join("\n")
        ),
        ...(more ? [say("There are more notifications.")] : []),
        say("All notifications: {address}", { address: `${publicUrl}/notifications` }),
        say("You receive this email because you were away. Choose which emails you get: {address}", {
          address: `${publicUrl}/settings/emails`
        })
      ].join("\n\n")
    },
    words,
    unsubscribe
  )
}
