import { withEmojis } from "../../html/EmojiText.ts"
import { hidden, tokenInput } from "../../html/Forms.ts"
import { type Html, html } from "../../html/Html.ts"
import type { Visit } from "../shell/Visit.ts"
import type { ShownStatus } from "./StatusText.ts"
import { endOf } from "./Times.ts"

type Poll = NonNullable<ShownStatus["poll"]>

/** Path to which a form about a status is sent. */
export const statusActPath = (id: string): string => `/web/statuses/${id}`

const shareOf = (votes: number, people: number) => people === 0 ? 0 : Math.round(votes * 100 / people)

const results = ({ reader: { words: { figure, say } } }: Visit, poll: Poll): Html => {
  const people = poll.votersCount ?? poll.votesCount
  return html`<ul class="poll">${
    poll.options.map(({ title, votesCount }, at) => {
      const share = votesCount === null ? undefined : shareOf(votesCount, people)
      return html`<li dir="auto"><span>${withEmojis(html`${title}`, poll.emojis)}${
        poll.ownVotes?.includes(at) === true ? html` <span class="soft">${say("your vote")}</span>` : ""
      }</span>${
        share === undefined || votesCount === null
          ? ""
          : html` <meter min="0" max="100" value="${share}" aria-hidden="true"></meter> <span class="soft">${
            figure(votesCount)
          } (${figure(share)}%)</span>`
      }</li>`
    })
  }</ul>`
}

/** Renders a status's poll: as a form for members who may vote, otherwise its results. */
export const pollOf = (visit: Visit, status: ShownStatus): Html => {
  const { poll } = status
  if (poll === null) return html``
  const { formToken, pathAndQuery, reader: { words: { say }, words }, viewer } = visit
  const people = poll.votersCount ?? poll.votesCount
  const summary = html`<p class="soft">${
    poll.expired
      ? say("{people, plural, one {# person} other {# people}} voted, closed", { people })
      : say("{people, plural, one {# person} other {# people}} voted", { people })
  }${
    poll.expiresAt === null || poll.expired ? "" : html` · ${
      words.pieces("open until {moment}", {
        moment: endOf(words, poll.expiresAt)
      })
    }`
  }</p>`
  const mayVote = viewer !== undefined && !poll.expired && poll.voted !== true
  if (!mayVote) return html`${results(visit, poll)}${summary}`
  const type = poll.multiple ? "checkbox" : "radio"
  return html`<form method="post" action="${statusActPath(status.id)}" class="vote">${tokenInput(formToken)}${
    hidden("return", pathAndQuery)
  }<fieldset><legend class="unseen">${say("Poll")}</legend>${
    poll.options.map(({ title }, at) =>
      html`<label dir="auto"><input type="${type}" name="choices[]" value="${at}"> ${
        withEmojis(html`${title}`, poll.emojis)
      }</label>`
    )
  }</fieldset><button type="submit" name="act" value="vote">${say("Vote")}</button></form>${summary}`
}
