import { Clock, Context, Effect, Layer } from "effect"
import { renderedRows } from "../../services/database/RenderedRows.ts"
import { withoutInlineQuote } from "../../services/html/InlineQuote.ts"
import { sanitise } from "../../services/html/Sanitise.ts"
import { type AccountRecord, Accounts } from "../../services/identity/Accounts.ts"
import { picturesOf } from "../../services/identity/PictureAddresses.ts"
import { CustomEmojis } from "../../services/instance/CustomEmojis.ts"
import type { Emoji } from "../../services/instance/Emoji.ts"
import { ServerConfig } from "../../services/instance/ServerConfig.ts"
import * as Urls from "../../services/instance/Urls.ts"
import type { Messages } from "../../services/languages/Messages.ts"
import { traced } from "../../services/runtime/Traced.ts"
import { Statuses, type StatusRecord } from "../../services/statuses/Statuses.ts"
import type { StatusKey, ViewerState } from "../../services/statuses/ViewerState.ts"
import { ViewerStates } from "../../services/statuses/ViewerStates.ts"
import { bounded } from "../../services/text/BoundedText.ts"
import * as EmojiText from "../html/EmojiText.ts"
import { type Html, html, raw } from "../html/Html.ts"
import { keyOf } from "../render/StatusBodies.ts"
import { attachments } from "./Attachments.ts"
import { poll } from "./PollList.ts"

/** Posts as HTML for strangers: only public posts are ever shown (row 55). */
export class Posts extends Context.Service<Posts, {
  /** Renders the public posts among `ids`, in their order; takes three queries, and three more if they quote. */
  readonly show: (words: Messages, ids: ReadonlyArray<bigint>) => Effect.Effect<ReadonlyArray<Html>>
}>()("murmuration/http/pages/Posts") {
  static readonly layer = Layer.effect(
    Posts,
    Effect.gen(function*() {
      const accounts = yield* Accounts
      const config = yield* ServerConfig
      const emojis = yield* CustomEmojis
      const viewerStates = yield* ViewerStates
      const statuses = yield* Statuses

      /**
       * Renders the accepted quotes of these posts, by the quoting post's id; quotes that are not public are left out.
       */
      const quoted = Effect.fnUntraced(
        function*(words: Messages, quoting: ReadonlyArray<StatusRecord>, named: Finder, now: number) {
          const ids = new Map(
            quoting.flatMap(({ id, quote }) =>
              quote?.state === "accepted" && quote.status !== null ? [[id, BigInt(quote.status.id)] as const] : []
            )
          )
          if (ids.size === 0) return new Map<bigint, Html>()
          const records = (yield* statuses.load([...new Set(ids.values())])).filter((one) => one.reblogOfId === null)
          const open = yield* viewerStates.of(undefined, records.map((record) => keyOf(record, undefined)), "nothing")
          const people = yield* accounts.load([...new Set(records.map(({ accountId }) => accountId))])
          const authors = new Map(people.map((account) => [account.id, account]))
          const shown = new Map(records.flatMap((record) => {
            const author = authors.get(record.accountId)
            return author === undefined || !open.has(record.id)
              ? []
              : [[record.id, quotation(config, words, record, author, record.local ? named : noEmojis, now)] as const]
          }))
          return new Map([...ids].flatMap(([id, of]) => {
            const found = shown.get(of)
            return found === undefined ? [] : [[id, found] as const]
          }))
        }
      )

      const show = traced("Posts.show")(function*(words: Messages, ids: ReadonlyArray<bigint>) {
        const records = new Map((yield* statuses.load(ids)).map((record) => [record.id, record]))
        const now = yield* Clock.currentTimeMillis
        const keyed = (record: StatusRecord): StatusKey => {
          const original = record.reblogOfId === null ? undefined : records.get(record.reblogOfId)
          return keyOf(record, original === undefined ? undefined : keyed(original))
        }
        const listed = ids.flatMap((id) => records.get(id) ?? [])
        const open = yield* viewerStates.of(undefined, listed.map(keyed), "nothing")
        const authors = new Map(
          (yield* accounts.load([...new Set(Array.from(records.values(), ({ accountId }) => accountId))]))
            .map((account) => [account.id, account])
        )
        const named = yield* emojis.finder
        const quotes = yield* quoted(
          words,
          listed.map((record) => records.get(record.reblogOfId ?? 0n) ?? record),
          named,
          now
        )
        return yield* renderedRows("status", listed, ({ id }) => id, (record) => {
          const state = open.get(record.id)
          const shown = record.reblogOfId === null ? record : records.get(record.reblogOfId)
          const [by, author] = [authors.get(record.accountId), authors.get(shown?.accountId ?? 0n)]
          if (state === undefined || shown === undefined || by === undefined || author === undefined) {
            return undefined
          }
          const boostedBy = shown === record ? undefined : by
          const people = { author, boostedBy }
          return article(config, words, shown, people, state, shown.local ? named : noEmojis, now, quotes.get(shown.id))
        })
      })
      return Posts.of({ show })
    })
  )
}

/** Returns a URL that is safe in a link; another server may have given one that is a script (row 14). */
const webAddress = (url: string): string => /^https?:\/\//i.test(url) ? url : "/"

/** Renders a time for people and machines. */
const time = ({ moment }: Messages, date: Date): Html =>
  html`<time datetime="${date.toISOString()}">${moment(date)} UTC</time>`

export const nameOf = ({ displayName, username }: AccountRecord): string => displayName.trim() || username

/** Finds the custom emoji whose shortcodes are in texts. */
type Finder = (...texts: ReadonlyArray<string>) => ReadonlyArray<Emoji>

/** Finder for remote posts: their shortcodes mean emoji of their own server. */
const noEmojis: Finder = () => []

const withEmojis = (piece: Html, find: Finder): Html => EmojiText.withEmojis(piece, find(String(piece)))

/** Renders the text of a post, behind its content warning; `below` follows it. */
const body = (
  config: ServerConfig["Service"],
  words: Messages,
  record: StatusRecord,
  named: Finder,
  now: number,
  below: Html | ""
): Html => {
  // If the quote is shown, the text needs no link to it.
  const text = below === "" ? record.html : withoutInlineQuote(record.html)
  // Sanitised when stored, and again here, so that a page never depends on the database's contents.
  const content = html`<div class="content" dir="auto" lang="${record.language ?? ""}">${
    withEmojis(raw(sanitise(bounded(text))), named)
  }</div>`
  const shown = html`${content}${poll(words, record, now)}${attachments(config, words, record)}${below}`
  return record.spoilerText === ""
    ? shown
    : html`<details><summary dir="auto">${withEmojis(html`${record.spoilerText}`, named)}</summary>${shown}</details>`
}

/** Renders the author of a post. */
const byline = (config: ServerConfig["Service"], author: AccountRecord, named: Finder): Html =>
  html`<header><img src="${picturesOf(config, author).avatarStatic}" alt="" width="44" height="44">
<p><a href="${webAddress(author.url ?? Urls.profile(config, author.username))}"><strong dir="auto">${
    withEmojis(html`${nameOf(author)}`, named)
  }</strong><br>
<span class="soft"><bdi>@${Urls.acct(author)}</bdi></span></a></p></header>`

const moment = (config: ServerConfig["Service"], words: Messages, record: StatusRecord): Html => {
  const address = webAddress(record.url ?? Urls.status(config, record.username, record.id))
  return html`<a href="${address}">${time(words, record.createdAt)}</a>`
}

/** Renders a quoted post. */
const quotation = (
  config: ServerConfig["Service"],
  words: Messages,
  record: StatusRecord,
  author: AccountRecord,
  named: Finder,
  now: number
): Html =>
  html`<blockquote class="quoted">${byline(config, author, named)}${body(config, words, record, named, now, "")}
<footer>${moment(config, words, record)}</footer></blockquote>`

const article = (
  config: ServerConfig["Service"],
  words: Messages,
  record: StatusRecord,
  { author, boostedBy }: { readonly author: AccountRecord; readonly boostedBy: AccountRecord | undefined },
  state: ViewerState,
  named: Finder,
  now: number,
  quoted: Html | undefined
): Html =>
  html`<article class="post">
${
    boostedBy === undefined
      ? ""
      : html`<p class="boost">${words.say("{account} boosted", { account: nameOf(boostedBy) })}</p>`
  }
${byline(config, author, named)}
${body(config, words, record, named, now, quoted ?? "")}
<footer>${moment(config, words, record)}
${
    record.editedAt === null
      ? ""
      : html`<span>${words.pieces("edited {moment}", { moment: time(words, record.editedAt) })}</span>`
  }
<span>${words.say("{count, plural, one {# reply} other {# replies}}", { count: state.repliesCount })}</span>
<span>${words.say("{count, plural, one {# boost} other {# boosts}}", { count: state.reblogsCount })}</span>
<span>${
    words.say("{count, plural, one {# favourite} other {# favourites}}", { count: state.favouritesCount })
  }</span></footer>
</article>`

/** Renders posts as a list. */
export const list = (posts: ReadonlyArray<Html>): Html =>
  html`<ol class="posts">${posts.map((post) => html`<li>${post}</li>`)}</ol>`
