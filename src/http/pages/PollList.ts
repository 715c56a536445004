import type { Messages } from "../../services/languages/Messages.ts"
import type { StatusRecord } from "../../services/statuses/Statuses.ts"
import { type Html, html } from "../html/Html.ts"
import { pollValues } from "../render/PollValues.ts"

/** Renders a post's poll and its results, at `now` in milliseconds since 1970. */
export const poll = ({ figure, say }: Messages, { id, poll }: StatusRecord, now: number): Html => {
  if (poll === null) return html``
  const { expired, options, votersCount, votesCount } = pollValues(id, poll, [], now)
  const people = votersCount ?? votesCount
  return html`<ul class="poll">${
    options.map(({ title, votesCount }) =>
      html`<li dir="auto">${title}${
        votesCount === null ? "" : html` <span class="soft">${figure(votesCount)}</span>`
      }</li>`
    )
  }</ul>
<p class="soft">${
    expired
      ? say("{people, plural, one {# person} other {# people}} voted, closed", { people })
      : say("{people, plural, one {# person} other {# people}} voted", { people })
  }</p>`
}
