import { Context, Effect, Layer } from "effect"
import { plainText } from "../../../../services/html/PlainText.ts"
import { ServerConfig } from "../../../../services/instance/ServerConfig.ts"
import * as Urls from "../../../../services/instance/Urls.ts"
import type { Messages } from "../../../../services/languages/Messages.ts"
import { addressesOf } from "../../../../services/media/MediaAddresses.ts"
import { Statuses, type StatusRecord } from "../../../../services/statuses/Statuses.ts"
import { bounded } from "../../../../services/text/BoundedText.ts"
import { type Html, html } from "../../../html/Html.ts"
import { rowCheckbox } from "./Tables.ts"
import { badge, handleOf, moment } from "./Texts.ts"

/** Maximum posts of a report on a page. */
export const postsMax = 100

/**
 * Posts as moderators see them: plain text without content warnings, and links to files. Remote files are not loaded.
 */
export class ReportedPosts extends Context.Service<ReportedPosts, {
  /** Shows posts, with checkboxes if `selectable` and authors if `withAuthors`; deleted ones are marked as deleted. */
  readonly show: (
    words: Messages,
    ids: ReadonlyArray<bigint>,
    selectable: boolean,
    withAuthors?: boolean
  ) => Effect.Effect<Html>
  /** Renders single posts; `visibilities` has the intended visibility of held posts. */
  readonly load: (
    words: Messages,
    ids: ReadonlyArray<bigint>,
    visibilities: ReadonlyMap<bigint, StatusRecord["visibility"]>
  ) => Effect.Effect<ReadonlyMap<bigint, Html>>
}>()("murmuration/http/staff/pages/parts/ReportedPosts") {
  static readonly layer = Layer.effect(
    ReportedPosts,
    Effect.gen(function*() {
      const config = yield* ServerConfig
      const statuses = yield* Statuses
      return ReportedPosts.of({
        load: Effect.fnUntraced(function*(words, ids, visibilities) {
          const records = yield* statuses.load(ids)
          return new Map(records.map((record) => [
            record.id,
            post(config, words, { ...record, visibility: visibilities.get(record.id) ?? record.visibility })
          ]))
        }),
        show: Effect.fnUntraced(function*(words, ids, selectable, withAuthors = false) {
          const shown = ids.slice(0, postsMax)
          const records = new Map((yield* statuses.load(shown)).map((record) => [record.id, record]))
          return html`${
            shown.map((id) => {
              const record = records.get(id)
              const by = !withAuthors || record === undefined ?
                "" :
                html`<p><a href="/admin/accounts/${String(record.accountId)}">${handleOf(record)}</a></p>`
              return html`<article class="post">${by}${
                selectable && record !== undefined
                  ? html`<label class="check">${rowCheckbox(id, words.say("Select this post"))}<span class="grow">${
                    post(config, words, record)
                  }</span></label>`
                  : record === undefined
                  ? html`<p class="soft">${words.say("This post is gone.")}</p>`
                  : post(config, words, record)
              }</article>`
            })
          }${
            ids.length > postsMax
              ? html`<p class="soft">${
                words.say("{count, plural, one {# more post is} other {# more posts are}} not shown.", {
                  count: ids.length - postsMax
                })
              }</p>`
              : ""
          }`
        })
      })
    })
  )
}

const addressOf = (
  config: ServerConfig["Service"],
  { domain, id, uri, url, username }: StatusRecord
): string | undefined =>
  domain === null
    ? Urls.status(config, username, id)
    : [url, uri].find((one) => one !== null && /^https?:\/\//i.test(one)) ?? undefined

const visibilities: Readonly<Record<StatusRecord["visibility"], (words: Messages) => string>> = {
  public: ({ say }) => say("Public"),
  unlisted: ({ say }) => say("Quiet public"),
  private: ({ say }) => say("Followers only"),
  direct: ({ say }) => say("Mentioned people only")
}

const post = (config: ServerConfig["Service"], words: Messages, record: StatusRecord): Html => {
  const { say } = words
  const address = addressOf(config, record)
  return html`${
    record.spoilerText === ""
      ? ""
      : html`<p><strong dir="auto">${say("Warning: {text}", { text: record.spoilerText })}</strong></p>`
  }<p class="said" dir="auto">${plainText(bounded(record.html))}</p>${
    record.media.length === 0 ? "" : html`<ul class="files">${
      record.media.map((media, at) => {
        const { file } = addressesOf(config, media)
        const name = media.description || say("File {number}, no description", { number: at + 1 })
        return html`<li>${
          file === null ? name : html`<a href="${file}" target="_blank" rel="noopener noreferrer">${name}</a>`
        } <span class="soft">${media.type}</span></li>`
      })
    }</ul>`
  }${
    record.poll === null ? "" : html`<ul class="files">${record.poll.options.map((one) => html`<li>${one}</li>`)}</ul>`
  }<p class="row soft">${moment(words, record.createdAt)} ${badge(visibilities[record.visibility](words))} ${
    record.sensitive ? badge(say("Sensitive"), "warn") : ""
  } ${address === undefined ? "" : html`<a href="${address}" rel="noopener noreferrer">${say("The post")}</a>`}</p>`
}
