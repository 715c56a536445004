import { webStreamPath } from "../../guard/Handshake.ts"
import { type Html, html } from "../../html/Html.ts"
import { icon } from "./Icons.ts"
import type { View, Visit } from "./Visit.ts"

/** New posts that are counted one by one. */
const countedMax = 10

/** Attributes of a member's page that its scripts read: the own profile, and the stream. */
export const liveAttributes = ({ session }: Visit, { live = "channel=user" }: View): Html =>
  session === undefined
    ? html``
    : html` data-me="/@${session.username}" data-stream="${webStreamPath}?${live}"`

/** The one polite live region of a member's page. On pages that follow new posts it has the words for their number. */
export const liveRegion = ({ reader: { words: { say } }, session }: Visit, { live }: View): Html => {
  if (session === undefined) return html``
  const labels = [
    ...Array.from(
      { length: countedMax },
      (_, at) => say("{count, plural, one {# new post} other {# new posts}}", { count: at + 1 })
    ),
    say("More than {count, number} new posts", { count: countedMax })
  ]
  return html`<p id="live" role="status"${
    live === undefined ? "" : html` data-labels="${JSON.stringify(labels)}"`
  }></p>`
}

/** Empty dialog in which scripts open small pages. */
export const pageDialog = ({ reader: { words: { say } }, session }: Visit): Html =>
  session === undefined
    ? html``
    : html`<dialog id="page-dialog" aria-label="${say("Dialog")}"><form method="dialog"><button class="plain close">${
      icon("cross")
    }<span class="unseen">${say("Close")}</span></button></form><div></div></dialog>`

/** Notice of a kept page without a network; the service worker shows it. */
export const offlineText = ({ reader: { words: { say } }, session }: Visit): Html =>
  session === undefined
    ? html``
    : html`<p id="offline" class="problem">${say("You are offline. This is a saved copy of Home.")}</p>`
