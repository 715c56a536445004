import { Clock, Context, Effect, Layer } from "effect"
import { sanitise } from "../../services/html/Sanitise.ts"
import { type AccountRecord, Accounts } from "../../services/identity/Accounts.ts"
import { picturesOf } from "../../services/identity/PictureAddresses.ts"
import { CustomEmojis } from "../../services/instance/CustomEmojis.ts"
import { ServerConfig } from "../../services/instance/ServerConfig.ts"
import * as Urls from "../../services/instance/Urls.ts"
import type { Messages } from "../../services/languages/Messages.ts"
import { renderedRows } from "../../services/RenderedRows.ts"
import { Statuses, type StatusRecord } from "../../services/statuses/Statuses.ts"
import type { StatusKey, ViewerState } from "../../services/statuses/ViewerState.ts"
import { ViewerStates } from "../../services/statuses/ViewerStates.ts"
import { traced } from "../../services/Traced.ts"
import { type Html, html, raw } from "../html/Html.ts"
import { keyOf } from "../render/StatusBodies.ts"
import { attachments } from "./Attachments.ts"
import { type Finder, withEmojis } from "./EmojiText.ts"
import { poll } from "./PollList.ts"

/** Posts as pieces of pages, for nobody in particular: only what everybody may read is ever shown (row 55). */
export class Posts extends Context.Service<Posts, {
  /** Those of `ids` that everybody may read, in their order; three queries. */
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

      const show = traced("Posts.show")(function*(words: Messages, ids: ReadonlyArray<bigint>) {
        const records = new Map((yield* statuses.load(ids)).map((record) => [record.id, record]))
        const now = yield* Clock.currentTimeMillis
        const keyed = (record: StatusRecord): StatusKey => {
          const original = record.reblogOfId === null ? undefined : records.get(record.reblogOfId)
          return keyOf(record, original === undefined ? undefined : keyed(original))
        }
        const wanted = ids.flatMap((id) => records.get(id) ?? [])
        const open = yield* viewerStates.of(undefined, wanted.map(keyed), "nothing")
        const authors = new Map(
          (yield* accounts.load([...new Set(Array.from(records.values(), ({ accountId }) => accountId))]))
            .map((account) => [account.id, account])
        )
        const named = yield* emojis.finder
        return yield* renderedRows("status", wanted, ({ id }) => id, (record) => {
          const state = open.get(record.id)
          const shown = record.reblogOfId === null ? record : records.get(record.reblogOfId)
          const [by, author] = [authors.get(record.accountId), authors.get(shown?.accountId ?? 0n)]
          if (state === undefined || shown === undefined || by === undefined || author === undefined) {
            return undefined
          }
          const boostedBy = shown === record ? undefined : by
          return article(config, words, shown, author, state, boostedBy, shown.local ? named : noEmojis, now)
        })
      })
      return Posts.of({ show })
    })
  )
}

/** An address that a link may lead to; another server could have given one that is a script (row 14). */
const webAddress = (url: string): string => /^https?:\/\//i.test(url) ? url : "/"

/** A moment for readers and for machines. */
const time = ({ moment }: Messages, date: Date): Html =>
  html`<time datetime="${date.toISOString()}">${moment(date)} UTC</time>`

export const nameOf = ({ displayName, username }: AccountRecord): string => displayName.trim() || username

/** Others' shortcodes are not ours. */
const noEmojis: Finder = () => []

const article = (
  config: ServerConfig["Service"],
  words: Messages,
  record: StatusRecord,
  author: AccountRecord,
  state: ViewerState,
  boostedBy: AccountRecord | undefined,
  named: Finder,
  now: number
): Html => {
  const profile = webAddress(author.url ?? Urls.profile(config, author.username))
  const address = webAddress(record.url ?? Urls.status(config, record.username, record.id))
  // Sanitised when it was stored; done again, so that a page never depends on what is in the database.
  const content = html`<div class="content" dir="auto" lang="${record.language ?? ""}">${
    withEmojis(raw(sanitise(record.html)), named)
  }</div>`
  const shown = html`${content}${poll(words, record, now)}${attachments(config, words, record)}`
  return html`<article class="post">
${
    boostedBy === undefined
      ? ""
      : html`<p class="boost">${words.say("{account} boosted", { account: nameOf(boostedBy) })}</p>`
  }
<header><img src="${picturesOf(config, author).avatarStatic}" alt="" width="44" height="44">
<p><a href="${profile}"><strong dir="auto">${withEmojis(html`${nameOf(author)}`, named)}</strong><br>
<span class="soft">@${Urls.acct(author)}</span></a></p></header>
${
    record.spoilerText === ""
      ? shown
      : html`<details><summary dir="auto">${withEmojis(html`${record.spoilerText}`, named)}</summary>${shown}</details>`
  }
<footer><a href="${address}">${time(words, record.createdAt)}</a>
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
}

/** Posts one below the other. */
export const list = (posts: ReadonlyArray<Html>): Html =>
  html`<ol class="posts">${posts.map((post) => html`<li>${post}</li>`)}</ol>`
