import { Clock, Context, Effect, Layer } from "effect"
import type { StatusId } from "../../../services/database/Ids.ts"
import { CustomEmojis } from "../../../services/instance/CustomEmojis.ts"
import { Drafts } from "../../../services/statuses/Drafts.ts"
import { UnpublishedPosts } from "../../../services/statuses/UnpublishedPosts.ts"
import { hidden, tokenInput } from "../../html/Forms.ts"
import { type Html, html } from "../../html/Html.ts"
import { emojiValues } from "../../render/AccountValues.ts"
import type { MemberVisit, View } from "../shell/Visit.ts"
import { articleOf } from "../status/Article.ts"
import { contentOf, plainName, type ShownStatus } from "../status/StatusText.ts"
import { composeForm, composeScripts } from "./ComposeForm.ts"
import type { Composition } from "./Composition.ts"
import { Compositions } from "./Compositions.ts"

/** Options of the composer's page. */
interface Shown {
  readonly composition: Composition
  /** Path to return to after the post. */
  readonly back: string
  readonly concerns?: ReadonlyArray<string>
  /** True after "Preview" and after a refusal: the page shows the rendered post and its length. */
  readonly previewed?: boolean
  readonly status?: number
}

/** Renders the composer's page. */
export class ComposePage extends Context.Service<ComposePage, {
  readonly view: (visit: MemberVisit, shown: Shown) => Effect.Effect<View>
  /** Warnings that the member confirms once before the post is sent. */
  readonly concerns: (visit: MemberVisit, composition: Composition) => Effect.Effect<ReadonlyArray<string>>
}>()("murmuration/http/web/compose/ComposePage") {
  static readonly layer = Layer.effect(ComposePage, Effect.suspend(() => make))
}

/** Path of the form that deletes a post and makes a draft of it. */
export const redraftPath = "/web/compose/redraft"

const make = Effect.gen(function*() {
  const compositions = yield* Compositions
  const drafts = yield* Drafts
  const emojis = yield* CustomEmojis
  const waiting = yield* UnpublishedPosts

  const known = (visit: MemberVisit, id: StatusId | undefined) =>
    id === undefined
      ? Effect.undefined
      : Effect.orElseSucceed(compositions.status(visit.viewer, id), () => undefined)

  const titleOf = (visit: MemberVisit, { audience, edit, quote }: Composition, parent: ShownStatus | undefined) => {
    const { say } = visit.reader.words
    if (edit !== undefined) return say("Edit post")
    if (parent !== undefined) {
      const name = plainName(parent.account)
      return audience === "direct" && parent.visibility !== "direct"
        ? say("Private reply to {name}", { name })
        : say("Reply to {name}", { name })
    }
    return quote === undefined ? say("New post") : say("Quote a post")
  }

  const preview = Effect.fnUntraced(function*(visit: MemberVisit, { contentType, spoiler, texts }: Composition) {
    const { say } = visit.reader.words
    const found = (yield* emojis.finder)(...texts, spoiler).map(emojiValues)
    const shown = yield* Effect.forEach(
      texts,
      (text) => Effect.orDie(drafts.compose(text, contentType === "text/markdown" ? contentType : "text/plain"))
    )
    return html`<section class="preview panel" aria-label="${say("Preview")}"><h2>${say("Preview")}</h2>${
      spoiler === "" ? "" : html`<p><strong>${spoiler}</strong></p>`
    }${
      shown.map(({ html: content }) =>
        html`<div class="content" dir="auto">${contentOf({ content, emojis: found, mentions: [], tags: [] })}</div>`
      )
    }</section>`
  })

  /** Offers the newest draft to whoever opens an empty composer. */
  const recovery = Effect.fnUntraced(function*(visit: MemberVisit) {
    const { viewer, reader: { way, words: { say } } } = visit
    const page = { maxId: undefined, minId: undefined, sinceId: undefined, limit: 1 }
    const [latest] = yield* waiting.drafts.page(viewer, page)
    return latest === undefined
      ? html``
      : html`<p class="recovery">${say("You have an unsent draft.")} <a href="${way(`/publish?draft=${latest.id}`)}">${
        say("Continue writing")
      }</a> · <a href="${way("/drafts")}">${say("All drafts")}</a></p>`
  })

  const redraft = ({ formToken, reader: { words: { say } } }: MemberVisit, id: StatusId): Html =>
    html`<form method="post" action="${redraftPath}" class="panel">${tokenInput(formToken)}${
      hidden("id", String(id))
    }<p class="soft">${
      say("Deletes this post with its favourites and boosts, and opens its text as a draft.")
    }</p><button type="submit" name="act" value="redraft" class="danger">${say("Delete and redraft")}</button></form>`

  const replyKinds = ({ reader: { way, words: { say } } }: MemberVisit, id: StatusId, audience: string): Html =>
    audience === "direct"
      ? html`<p class="kinds"><a href="${way(`/publish?reply_to=${id}`)}">${say("Reply to everyone")}</a></p>`
      : html`<p class="kinds"><a href="${way(`/publish?reply_to=${id}&private=1`)}">${say("Reply privately")}</a></p>`

  const view: ComposePage["Service"]["view"] = Effect.fnUntraced(
    function*(visit, { back, composition, concerns = [], previewed = false, status }) {
      const { edit, quote, replyTo, texts } = composition
      const now = yield* Clock.currentTimeMillis
      const parent = yield* known(visit, replyTo)
      const quoted = yield* known(visit, quote)
      // A post whose parent or quoted post is gone can be published by itself; an edit changes neither.
      const isAlone = edit === undefined && (replyTo !== undefined && parent === undefined ||
        quote !== undefined && quoted === undefined)
      const offered = isAlone
        ? {
          ...composition,
          replyTo: parent === undefined ? undefined : replyTo,
          quote: quoted === undefined ? undefined : quote
        }
        : composition
      const files = yield* compositions.filesOf(visit.viewer, composition)
      const isFresh = !previewed && visit.query.size === 0 && texts.length === 1 && texts[0] === "" &&
        status === undefined
      return {
        title: titleOf(visit, composition, parent),
        ...(status !== undefined && { status }),
        scripts: composeScripts,
        body: html`${isFresh ? yield* recovery(visit) : ""}${
          parent === undefined || replyTo === undefined
            ? ""
            : html`${articleOf(visit, parent, { now })}${replyKinds(visit, replyTo, composition.audience)}`
        }${quoted === undefined ? "" : articleOf(visit, quoted, { now })}${
          previewed ? yield* preview(visit, composition) : ""
        }${
          isAlone
            ? html`<p class="content">${
              visit.reader.words.say("The other post is gone. This one will be published by itself.")
            }</p>`
            : ""
        }${composeForm(visit, { composition: offered, files, back, concerns, counted: previewed })}${
          edit === undefined ? "" : redraft(visit, edit)
        }`
      }
    }
  )

  const concerns: ComposePage["Service"]["concerns"] = Effect.fnUntraced(function*(visit, composition) {
    const { say } = visit.reader.words
    const { audience, files, replyTo } = composition
    const parent = yield* known(visit, replyTo)
    const isOpen = audience === "public" || audience === "unlisted" || audience === "local"
    return [
      ...(visit.session.web.asksForDescriptions && files.some(({ description }) => description.trim() === "")
        ? [say("A file has no description. People who cannot see it will not know what it shows.")]
        : []),
      ...(isOpen && (parent?.visibility === "private" || parent?.visibility === "direct")
        ? [say("Your reply is public, but the post you are replying to is not.")]
        : [])
    ]
  })

  return ComposePage.of({ view, concerns })
})
