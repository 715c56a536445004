import { Clock, Effect, Layer } from "effect"
import { HttpRouter } from "effect/http"
import { parseId } from "../../../services/database/Ids.ts"
import { CustomEmojis } from "../../../services/instance/CustomEmojis.ts"
import { RecordNotFound } from "../../../services/runtime/Errors.ts"
import { Translations } from "../../../services/translation/Translations.ts"
import { hidden, tokenInput } from "../../html/Forms.ts"
import { type Html, html } from "../../html/Html.ts"
import { StatusViews } from "../../render/StatusViews.ts"
import { read } from "../../wire/Keys.ts"
import * as Returning from "../shell/Returning.ts"
import type { MemberVisit } from "../shell/Visit.ts"
import { WebPages } from "../shell/WebPages.ts"
import { articleOf } from "../status/Article.ts"
import { statusActPath } from "../status/StatusPoll.ts"
import type { ShownStatus } from "../status/StatusText.ts"

/** Path that deletes a post and opens it in the composer. */
const redraftPath = "/web/compose/redraft"
/** Emoji of the server that the page offers; others can be typed. */
const offeredEmojisMax = 200

const make = Effect.gen(function*() {
  const emojis = yield* CustomEmojis
  const pages = yield* WebPages
  const returning = yield* Returning.make
  const translations = yield* Translations
  const views = yield* StatusViews

  /** Serves a page about a status, below its path, on which the article is shown without its acts. */
  const page = (
    last: string,
    show: (visit: MemberVisit, status: ShownStatus, start: Html) => Effect.Effect<
      { readonly title: string; readonly body: Html; readonly status?: ShownStatus },
      Effect.Error<ReturnType<typeof translations.translate>>
    >
  ) =>
    HttpRouter.add(
      "GET",
      `/web/statuses/:id/${last}`,
      pages.member(Effect.fnUntraced(function*(visit) {
        const id = parseId(visit.params["id"])
        if (id === undefined) return yield* new RecordNotFound()
        const back = yield* returning
        const outer = read(yield* views.renderOne(visit.viewer, id))
        const status: ShownStatus = outer.reblog === null ? outer : { ...outer.reblog, reblog: null }
        const shown = yield* show(
          visit,
          status,
          html`${tokenInput(visit.formToken)}${hidden("return", back)}`
        )
        const now = yield* Clock.currentTimeMillis
        return {
          title: shown.title,
          body: html`${shown.body}<div${shown.status === undefined ? html` class="shown"` : ""}>${
            articleOf({ ...visit, pathAndQuery: back }, shown.status ?? status, { now })
          }</div>
<p class="back"><a href="${visit.reader.way(back)}#status-${id}">${visit.reader.words.say("Back")}</a></p>`
        }
      }))
    )

  const react = page(
    "react",
    ({ reader: { words: { say } } }, { id }, start) =>
      Effect.map(emojis.listed, (listed) => ({
        title: say("Add a reaction"),
        body: html`<form method="post" action="${statusActPath(id)}" class="panel act-form">${start}
<label>${say("Emoji")} <input name="emoji" required maxlength="400" autocomplete="off"></label>
<p><button type="submit" name="act" value="react">${say("React")}</button></p>
<p class="quick">${
          listed.slice(0, offeredEmojisMax).map(({ shortcode, staticUrl }) =>
            html`<button type="submit" name="act" value="react:${shortcode}" formnovalidate title="${
              say("React with {emoji}", { emoji: shortcode })
            }"><img class="emoji" src="${staticUrl}" alt=":${shortcode}:" loading="lazy"></button>`
          )
        }</p></form>`
      }))
  )

  const remove = page(
    "delete",
    ({ reader: { words: { say } }, viewer }, { account, id }, start) =>
      account.id !== String(viewer) ? Effect.fail(new RecordNotFound()) : Effect.succeed({
        title: say("Delete this post?"),
        body: html`<div class="panel"><p>${
          say(
            "Its boosts and favourites are lost, and replies stay without it. If you redraft it, its text opens in the composer."
          )
        }</p>
<form method="post" action="${statusActPath(id)}" class="act-form">${start}
<button type="submit" name="act" value="delete" class="danger">${say("Delete")}</button></form>
<form method="post" action="${redraftPath}" class="act-form">${start}${
          hidden("id", id)
        }<button type="submit" name="act" value="redraft" class="plain">${
          say("Delete and redraft")
        }</button></form></div>`
      })
  )

  const translation = page("translation", (visit, status) => {
    const { words: { say, tag } } = visit.reader
    return Effect.map(translations.translate(visit.viewer, BigInt(status.id), { lang: tag }), (found) => {
      const describedBy = new Map(found.media.map(({ description, id }) => [id, description]))
      const poll = status.poll === null ? null : {
        ...status.poll,
        options: status.poll.options.map((option, at) => ({ ...option, title: found.options[at] ?? option.title }))
      }
      return {
        title: say("Translation"),
        status: {
          ...status,
          content: found.content,
          spoilerText: found.spoilerText,
          language: found.target,
          poll,
          mediaAttachments: status.mediaAttachments.map((file) => ({
            ...file,
            description: describedBy.get(file.id) ?? file.description
          }))
        },
        body: html`<p class="soft">${
          say("Translated from {language} by {provider}", { language: found.source, provider: found.provider })
        }</p>`
      }
    })
  })

  return Layer.mergeAll(react, remove, translation)
})

/** Pages of the acts on a status that need input or show a result: a further emoji, a deletion, a translation. */
export const layer = Layer.unwrap(make).pipe(Layer.provide(StatusViews.layer))
