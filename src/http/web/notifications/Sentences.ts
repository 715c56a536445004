import { notificationTitle } from "../../../services/notifications/NotificationTitles.ts"
import { type Html, html } from "../../html/Html.ts"
import type { Values } from "../../wire/Keys.ts"
import type { NotificationGroup } from "../../wire/Notification.ts"
import type { Visit } from "../shell/Visit.ts"
import { nameOf, plainName, profilePath, type ShownAccount } from "../status/StatusText.ts"

export type ShownGroup = Values<NotificationGroup>

/** Stands for the name in a title until the title is cut there. */
const placeholder = "\u0001"

/** Returns a sentence in pieces, with `name` for the newest account. */
const pieces = (
  { reader: { words } }: Visit,
  { notificationsCount, type }: ShownGroup,
  name: string | Html
): ReadonlyArray<string | Html> => {
  const others = notificationsCount - 1
  const values = { name: placeholder, others }
  const sentenceWith = (title: string) => {
    const [before = "", after] = title.split(placeholder)
    return after === undefined ? [before] : [before, name, after]
  }
  if (others > 0) {
    switch (type) {
      case "reblog":
        return sentenceWith(
          words.say("{name} and {others, plural, one {# other} other {# others}} boosted your post", values)
        )
      case "favourite":
        return sentenceWith(
          words.say("{name} and {others, plural, one {# other} other {# others}} favourited your post", values)
        )
      case "follow":
        return sentenceWith(
          words.say("{name} and {others, plural, one {# other} other {# others}} are now following you", values)
        )
      case "admin.sign_up":
        return sentenceWith(words.say("{name} and {others, plural, one {# other} other {# others}} signed up", values))
    }
  }
  return sentenceWith(notificationTitle(words, type, placeholder))
}

/** Renders what happened, with a link to the newest account. */
export const sentenceOf = (visit: Visit, group: ShownGroup, account: ShownAccount): Html =>
  html`${
    pieces(
      visit,
      group,
      html`<a class="by" href="${visit.reader.way(profilePath(account.acct))}"><strong dir="auto">${
        nameOf(account)
      }</strong></a>`
    )
  }`

/** Returns what happened as text, for screen readers. */
export const sentenceText = (visit: Visit, group: ShownGroup, account: ShownAccount): string =>
  pieces(visit, group, plainName(account)).join("")
