import { Effect, Layer } from "effect"
import { HttpRouter } from "effect/http"
import { AccountActors } from "../../../actors/account/core/AccountActors.ts"
import { MediaId, parseId, StatusId } from "../../../services/database/Ids.ts"
import { ServerConfig } from "../../../services/instance/ServerConfig.ts"
import { RecordNotFound, Unprocessable } from "../../../services/runtime/Errors.ts"
import { momentInZone } from "../../../services/runtime/Moments.ts"
import {
  type DraftRecord,
  type ScheduledRecord,
  type UnpublishedPost,
  UnpublishedPosts
} from "../../../services/statuses/UnpublishedPosts.ts"
import { hidden, tokenInput } from "../../html/Forms.ts"
import { type Html, html } from "../../html/Html.ts"
import { statusRows } from "../../render/PageSizes.ts"
import { pageOf, pagingLinks } from "../shell/CursorPaging.ts"
import { icon, type IconName } from "../shell/Icons.ts"
import type { MemberVisit } from "../shell/Visit.ts"
import { WebPages } from "../shell/WebPages.ts"
import { ComposedPosts } from "./ComposedPosts.ts"
import { Compositions } from "./Compositions.ts"
import { uploadedFile } from "./FileFields.ts"
import { localTime, zoneOf } from "./ScheduledTimes.ts"

const draftsPath = "/web/drafts"
const scheduledPath = "/web/scheduled"

const button = (act: string, name: IconName, label: string, style: string): Html =>
  html`<button type="submit" name="act" value="${act}" class="${style}">${icon(name)}${label}</button>`

/** Maximum characters of a text in a list. */
const excerptCharactersMax = 300

const make = Effect.gen(function*() {
  const actors = yield* AccountActors
  const compositions = yield* Compositions
  const config = yield* ServerConfig
  const pages = yield* WebPages
  const posts = yield* ComposedPosts
  const { drafts, scheduled } = yield* UnpublishedPosts

  const excerpt = ({ reader: { words: { say } } }: MemberVisit, { media, post }: UnpublishedPost): Html => {
    const { continued = [], poll, spoilerText, text } = post
    return html`${
      spoilerText === null || spoilerText === "" ? "" : html`<p><strong dir="auto">${spoilerText}</strong></p>`
    }<p class="content" dir="auto">${
      text.length > excerptCharactersMax ? `${text.slice(0, excerptCharactersMax).toWellFormed()}…` : text
    }</p>${
      continued.length === 0
        ? ""
        : html`<p class="soft">${
          say("{count, plural, one {and # more post} other {and # more posts}}", { count: continued.length })
        }</p>`
    }${poll === null ? "" : html`<p class="soft">${icon("poll")} ${poll.options.join(" · ")}</p>`}${
      media.length === 0 ? "" : html`<p class="row">${
        media.map((record) => {
          const { description, media: { previewUrl } } = uploadedFile(config, record, MediaId.make(BigInt(record.id)))
          return previewUrl === null ? "" : html`<img class="small-thumb" src="${previewUrl}" alt="${description}">`
        })
      }</p>`
    }`
  }

  const form = (visit: MemberVisit, action: string, content: Html): Html =>
    html`<form method="post" action="${action}" class="row">${tokenInput(visit.formToken)}${
      hidden("return", visit.pathAndQuery)
    }${content}</form>`

  const draftItem = (visit: MemberVisit, draft: DraftRecord): Html => {
    const { way, words: { moment, say } } = visit.reader
    const label = say("Saved {moment}", { moment: `${moment(draft.updatedAt)} UTC` })
    return html`<article class="status" aria-label="${label}"><p class="soft">${label}</p>${excerpt(visit, draft)}${
      form(
        visit,
        `${draftsPath}/${draft.id}`,
        html`<a class="button" href="${way(`/publish?draft=${draft.id}`)}">${icon("pen")}${say("Edit")}</a>${
          button("publish", "check", say("Post now"), "plain")
        }${button("delete", "bin", say("Delete"), "danger")}`
      )
    }</article>`
  }

  const scheduledItem = (visit: MemberVisit, post: ScheduledRecord, zone: string): Html => {
    const { moment, say } = visit.reader.words
    const at = localTime(post.scheduledAt, zone)
    const label = say("Scheduled for {moment}", { moment: `${moment(post.scheduledAt, zone)} (${zone})` })
    return html`<article class="status" aria-label="${label}"><p class="soft">${icon("clock")} ${label}</p>${
      excerpt(visit, post)
    }${
      form(
        visit,
        `${scheduledPath}/${post.id}`,
        html`${button("edit", "pen", say("Edit"), "")}${button("publish", "check", say("Post now"), "plain")}${
          button("delete", "bin", say("Delete"), "danger")
        }`
      )
    }${
      form(
        visit,
        `${scheduledPath}/${post.id}`,
        html`<label>${say("New time")}<input type="datetime-local" name="at" value="${at}"></label>${
          hidden("zone", zone)
        }${button("reschedule", "clock", say("Change time"), "plain")}`
      )
    }</article>`
  }

  const list = (items: ReadonlyArray<Html>, empty: string): Html =>
    items.length === 0 ? html`<p class="soft empty">${empty}</p>` : html`<div class="feed waiting">${items}</div>`

  const draftsPage = pages.member(Effect.fnUntraced(function*(visit) {
    const { say } = visit.reader.words
    const page = pageOf(visit, statusRows)
    const rows = yield* drafts.page(visit.viewer, page)
    return {
      title: say("Drafts"),
      body: html`${list(rows.map((row) => draftItem(visit, row)), say("You have no drafts."))}${
        pagingLinks(visit, page, rows.map(({ id }) => id))
      }`
    }
  }))

  const scheduledPage = pages.member(Effect.fnUntraced(function*(visit) {
    const { say } = visit.reader.words
    const page = pageOf(visit, statusRows)
    const rows = yield* scheduled.page(visit.viewer, page)
    const { zone } = yield* compositions.standard(visit.viewer)
    return {
      title: say("Scheduled posts"),
      body: html`${list(rows.map((row) => scheduledItem(visit, row, zone)), say("You have no scheduled posts."))}${
        pagingLinks(visit, page, rows.map(({ id }) => id))
      }`
    }
  }))

  const unknownAct = new Unprocessable({ text: "Validation failed: Action is not included in the list" })

  const target = Effect.gen(function*() {
    const { id } = yield* HttpRouter.params
    const found = parseId(id)
    return found === undefined ? yield* new RecordNotFound() : StatusId.make(found)
  })

  /** Publishes a draft; a refused one opens in the composer, which says why. */
  const publish = Effect.fnUntraced(function*(
    { reader: { words: { say, translate } }, viewer }: MemberVisit,
    id: StatusId,
    { post: { continued = [] } }: UnpublishedPost,
    key: string
  ) {
    return yield* posts.publishDraft(viewer, id, 1 + continued.length, key).pipe(
      Effect.map((done) => ({ to: "/home", at: `status-${done.id}`, notice: say("Your post was published.") })),
      Effect.catch((error) => Effect.succeed({ to: `/publish?draft=${id}`, notice: translate(error.message) }))
    )
  })

  const known = <A>(found: Effect.Effect<A, RecordNotFound>) => Effect.orElseSucceed(found, () => undefined)

  /** Response to the second press of a button. */
  const goneView = ({ reader: { words: { say } } }: MemberVisit) => ({
    notice: say("This post was already published or deleted.")
  })

  const actOnDraft = pages.act(Effect.fnUntraced(function*(visit, fields) {
    const { say } = visit.reader.words
    const id = yield* target
    switch (fields.get("act")) {
      case "publish": {
        const draft = yield* known(drafts.find(visit.viewer, id))
        if (draft === undefined) return goneView(visit)
        return yield* publish(visit, id, draft, `draft-${id}-${draft.updatedAt.getTime()}`)
      }
      case "delete":
        yield* actors.tell(visit.viewer, { _tag: "DeleteDraft", draftId: id })
        return { notice: say("The draft was deleted.") }
      default:
        return yield* unknownAct
    }
  }))

  const actOnScheduled = pages.act(Effect.fnUntraced(function*(visit, fields) {
    const { reader: { words: { say } }, viewer } = visit
    const scheduledId = yield* target
    switch (fields.get("act")) {
      case "edit": {
        const { scheduledAt } = yield* scheduled.find(viewer, scheduledId)
        const { zone } = yield* compositions.standard(viewer)
        yield* actors.tell(viewer, { _tag: "Unschedule", scheduledId })
        return {
          to: `/publish?draft=${scheduledId}&at=${localTime(scheduledAt, zone)}`,
          notice: say("The post is a draft until you schedule it again.")
        }
      }
      case "publish": {
        const post = yield* known(scheduled.find(viewer, scheduledId))
        if (post === undefined) return goneView(visit)
        yield* actors.tell(viewer, { _tag: "Unschedule", scheduledId })
        return yield* publish(visit, scheduledId, post, `scheduled-${scheduledId}`)
      }
      case "reschedule": {
        const scheduledAt = momentInZone(fields.get("at") ?? "", zoneOf(fields.get("zone")))
        if (scheduledAt === undefined) return yield* new Unprocessable({ text: "Invalid date supplied" })
        yield* actors.tell(viewer, { _tag: "Reschedule", scheduledId, scheduledAt })
        return { notice: say("The time was changed.") }
      }
      case "delete":
        yield* actors.tell(viewer, { _tag: "CancelScheduled", scheduledId })
        return { notice: say("The scheduled post was deleted.") }
      default:
        return yield* unknownAct
    }
  }))

  return Layer.mergeAll(
    HttpRouter.add("GET", "/drafts", draftsPage),
    HttpRouter.add("GET", "/scheduled", scheduledPage),
    HttpRouter.add("POST", `${draftsPath}/:id`, actOnDraft),
    HttpRouter.add("POST", `${scheduledPath}/:id`, actOnScheduled)
  )
})

/** Drafts and scheduled posts, and what members do with them. */
export const layer = Layer.unwrap(make)
