import { Effect, Layer } from "effect"
import { HttpRouter } from "effect/http"
import { parseId, StatusId } from "../../../services/database/Ids.ts"
import { ServerConfig } from "../../../services/instance/ServerConfig.ts"
import { RecordNotFound } from "../../../services/runtime/Errors.ts"
import { History } from "../../../services/statuses/History.ts"
import { Statuses } from "../../../services/statuses/Statuses.ts"
import { type Html, html } from "../../html/Html.ts"
import { RevisionViews } from "../../render/RevisionViews.ts"
import { StatusViews } from "../../render/StatusViews.ts"
import { read, type Values } from "../../wire/Keys.ts"
import type { StatusEdit } from "../../wire/Status.ts"
import type { Visit } from "../shell/Visit.ts"
import { WebPages } from "../shell/WebPages.ts"
import { mediaOf } from "../status/StatusMedia.ts"
import { contentOf, plainName, type ShownStatus, statusPath } from "../status/StatusText.ts"

const version = (visit: Visit, status: ShownStatus, revision: Values<StatusEdit>, isFirst: boolean): Html => {
  const { moment, say } = visit.reader.words
  const { content, createdAt, emojis, mediaAttachments, poll, sensitive, spoilerText } = revision
  const title = isFirst
    ? say("Posted {moment}", { moment: `${moment(new Date(createdAt))} UTC` })
    : say("Edited {moment}", { moment: `${moment(new Date(createdAt))} UTC` })
  return html`<article class="status" aria-label="${title}"><h2>${title}</h2>${
    spoilerText === "" ? "" : html`<p><strong dir="auto">${spoilerText}</strong></p>`
  }<div class="content" dir="auto">${
    contentOf({ content, emojis, mentions: status.mentions, tags: status.tags })
  }</div>${
    poll === undefined ? "" : html`<ul>${poll.options.map((option) => html`<li dir="auto">${option.title}</li>`)}</ul>`
  }${mediaOf(visit, { mediaAttachments, sensitive, spoilerText })}</article>`
}

const make = Effect.gen(function*() {
  const config = yield* ServerConfig
  const history = yield* History
  const pages = yield* WebPages
  const statuses = yield* Statuses
  const revisions = yield* RevisionViews
  const views = yield* StatusViews

  const page = pages.anyone(
    Effect.fnUntraced(function*(visit) {
      const { way, words: { say } } = visit.reader
      const digits = parseId(visit.params["id"])
      if (digits === undefined) return yield* new RecordNotFound()
      const { id } = yield* statuses.find(visit.viewer, StatusId.make(digits))
      const status = read(yield* views.renderOne(visit.viewer, id))
      if (status.account.acct !== visit.params["name"]) return yield* new RecordNotFound()
      const versions = yield* revisions.render(yield* history.of(id), undefined)
      return {
        title: say("Versions of a post by {name}", { name: plainName(status.account) }),
        body: html`<p><a href="${way(statusPath(status))}">${
          say("Back to the post")
        }</a></p><div class="feed versions">${
          versions.map((one, at) => version(visit, status, read(one), at === 0)).toReversed()
        }</div>`
      }
    }),
    Effect.succeed(config.limitedFederation)
  )
  return HttpRouter.add("GET", "/@:name/:id/history", page)
})

/** Versions of an edited post, newest first (S-144). */
export const layer = Layer.unwrap(make).pipe(Layer.provide([RevisionViews.layer, StatusViews.layer]))
