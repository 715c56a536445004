import type { Messages } from "../../../services/languages/Messages.ts"
import { webStreamPath } from "../../guard/Handshake.ts"
import { type Html, html } from "../../html/Html.ts"
import type { View, Visit } from "./Visit.ts"

/** New posts or notifications that are counted one by one. */
const countedMax = 10

/** Attributes of a member's page that its scripts read: the own profile, and the stream. */
export const liveAttributes = ({ session }: Visit, { live = "channel=user" }: View): Html =>
  session === undefined
    ? html``
    : html` data-me="/@${session.username}" data-stream="${webStreamPath}?${live}"`

const postLabel = ({ say }: Messages, count: number) =>
  count > countedMax
    ? say("More than {count, number} new posts", { count: countedMax })
    : say("{count, plural, one {# new post} other {# new posts}}", { count })
const notificationLabel = ({ say }: Messages, count: number) =>
  count > countedMax
    ? say("More than {count, number} new notifications", { count: countedMax })
    : say("{count, plural, one {# new notification} other {# new notifications}}", { count })

/**
 * The one polite live region of a member's page. On pages that follow new posts or notifications it has the words for their
 * number.
 */
export const liveRegion = ({ reader: { words }, session }: Visit, { live, liveNotifications = false }: View): Html => {
  if (session === undefined) return html``
  if (live === undefined && !liveNotifications) return html`<p id="live" role="status"></p>`
  const label = liveNotifications ? notificationLabel : postLabel
  const labels = Array.from({ length: countedMax + 1 }, (_, at) => label(words, at + 1))
  return html`<p id="live" role="status" data-labels="${JSON.stringify(labels)}"></p>`
}
