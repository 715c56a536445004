import { withoutInlineQuote } from "../../../services/html/InlineQuote.ts"
import type { Messages } from "../../../services/languages/Messages.ts"
import { withEmojis } from "../../html/EmojiText.ts"
import { type Html, html } from "../../html/Html.ts"
import { icon, type IconName } from "../shell/Icons.ts"
import type { Visit } from "../shell/Visit.ts"
import { actsRow } from "./ActsRow.ts"
import { cardOf } from "./StatusCard.ts"
import { mediaOf } from "./StatusMedia.ts"
import { pollOf } from "./StatusPoll.ts"
import { contentOf, lineOfStatus, nameOf, plainName, profilePath, type ShownStatus, statusPath } from "./StatusText.ts"
import { timeOf } from "./Times.ts"

/** Options of an article. */
interface ArticleOptions {
  /** Current time, in milliseconds since 1970. */
  readonly now: number
  /** True for the post that its own page is about. */
  readonly focused?: boolean
  /** True if the parent is shown as well, so that the article does not name it. */
  readonly inThread?: boolean
  /** Further content below the row of acts. */
  readonly below?: Html
}

type Quoted = NonNullable<NonNullable<ShownStatus["quote"]>["quotedStatus"]>

/** Author, and time with a link to the post. */
const byline = (visit: Visit, status: Omit<ShownStatus, "quote" | "reblog">, now: number): Html => {
  const { way, words } = visit.reader
  const { account } = status
  return html`<header><a href="${
    way(profilePath(account.acct))
  }" tabindex="-1" aria-hidden="true"><img src="${account.avatarStatic}" alt="" width="46" height="46" loading="lazy"></a><p><a class="by" href="${
    way(profilePath(account.acct))
  }"><strong dir="auto">${
    nameOf(account)
  }</strong> <span class="soft"><bdi>@${account.acct}</bdi></span></a></p><p class="when">${
    visibilityMark(words, status.visibility)
  }<a href="${way(statusPath(status))}">${timeOf(words, status.createdAt, now)}</a>${
    status.editedAt === null
      ? ""
      : html` <span class="soft">${
        words.pieces("edited {moment}", {
          moment: html`<a href="${way(`${statusPath(status)}/history`)}">${timeOf(words, status.editedAt, now)}</a>`
        })
      }</span>`
  }</p></header>`
}

const visibilityMark = ({ say }: Messages, visibility: ShownStatus["visibility"]): Html | "" => {
  const mark = (name: IconName, text: string) =>
    html`<span title="${text}">${icon(name)}<span class="unseen">${text}</span></span> `
  switch (visibility) {
    case "public":
      return ""
    case "unlisted":
      return mark("unlisted", say("Quiet public"))
    case "private":
      return mark("lock", say("Followers only"))
    case "direct":
      return mark("at", say("Mentioned people only"))
  }
}

/** Text, poll, files, card and quote, behind the content warning. */
const bodyOf = (visit: Visit, status: ShownStatus, options: ArticleOptions): Html => {
  const { content, emojis, language, quote, spoilerText } = status
  const quoted = quote?.quotedStatus ?? undefined
  const text = contentOf(status, quoted === undefined ? content : withoutInlineQuote(content))
  const shown = html`<div class="content" dir="auto"${
    language === null ? "" : html` lang="${language}"`
  }>${text}</div>${pollOf(visit, status)}${mediaOf(visit, status)}${
    status.mediaAttachments.length === 0 ? cardOf(status) : ""
  }${quote === null ? "" : quoteOf(visit, quote, options)}`
  return spoilerText === ""
    ? shown
    : html`<details class="warning"${
      visit.session?.reading.expandSpoilers === true ? html` open` : ""
    }><summary dir="auto">${withEmojis(html`${spoilerText}`, emojis)}</summary>${shown}</details>`
}

const quoteOf = (visit: Visit, quote: NonNullable<ShownStatus["quote"]>, options: ArticleOptions): Html => {
  const { say } = visit.reader.words
  if (quote.quotedStatus !== null) return quotation(visit, quote.quotedStatus, options)
  return html`<p class="quoted soft">${
    quote.state === "pending"
      ? say("This quote is waiting for the quoted author's approval.")
      : say("The quoted post is not available.")
  }</p>`
}

const quotation = (visit: Visit, status: Quoted, options: ArticleOptions): Html =>
  html`<blockquote class="quoted">${byline(visit, status, options.now)}${
    bodyOf(visit, { ...status, quote: null }, options)
  }</blockquote>`

/** Maximum characters of a post in the name of its article. */
const labelCharactersMax = 120

/** Returns the name of an article for screen readers: author, warning or text, and files. */
const labelOf = ({ say }: Messages, status: ShownStatus): string =>
  [
    plainName(status.account),
    lineOfStatus(status, labelCharactersMax),
    ...(status.mediaAttachments.length === 0
      ? []
      : [say("{count, plural, one {# file} other {# files}}", { count: status.mediaAttachments.length })])
  ].join(", ")

/** Titles of the viewer's filters that match a status. */
const filtersOf = ({ filtered }: ShownStatus): ReadonlyArray<string> =>
  (filtered ?? []).map(({ filter }) => filter.title)

/** Context above a status: who boosted it, and to whom it replies. */
const contextOf = (visit: Visit, outer: ShownStatus, status: ShownStatus, options: ArticleOptions): Html => {
  const { way, words } = visit.reader
  const parent = status.inReplyToAccountId
  const named = status.mentions.find(({ id }) => id === parent)
  return html`${
    outer.reblog === null ?
      "" :
      html`<p class="context">${icon("boost")}<a href="${way(profilePath(outer.account.acct))}">${
        words.pieces("{account} boosted", { account: nameOf(outer.account) })
      }</a></p>`
  }${
    options.inThread === true || status.inReplyToId === null ?
      "" :
      html`<p class="context">${icon("reply")}<a href="${way(statusPath(status))}">${
        parent === status.account.id
          ? words.say("Continues a thread")
          : named === undefined
          ? words.say("Replies to a post")
          : words.say("Replies to {account}", { account: `@${named.acct}` })
      }</a></p>`
  }`
}

/** Renders a status as an article; a boost as the article of its original, under the id of the boost. */
export const articleOf = (visit: Visit, outer: ShownStatus, options: ArticleOptions): Html => {
  const { say } = visit.reader.words
  const status: ShownStatus = outer.reblog === null ? outer : { ...outer.reblog, reblog: null }
  const filters = filtersOf(outer).length > 0 ? filtersOf(outer) : filtersOf(status)
  const inner = html`${byline(visit, status, options.now)}${bodyOf(visit, status, options)}`
  return html`<article id="status-${outer.id}" class="status${
    options.focused === true ? " focused" : ""
  }" aria-label="${labelOf(visit.reader.words, status)}">${contextOf(visit, outer, status, options)}${
    filters.length === 0
      ? inner
      : html`<details class="filtered"><summary>${
        say("Filtered: {filters}. Show anyway", { filters: filters.join(", ") })
      }</summary>${inner}</details>`
  }${actsRow(visit, status, outer.id)}${options.below ?? ""}</article>`
}
