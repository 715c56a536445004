import { Clock, Effect, Layer } from "effect"
import { HttpRouter } from "effect/http"
import { AccountActors } from "../../../actors/account/core/AccountActors.ts"
import { Announcements } from "../../../services/announcements/Announcements.ts"
import { parseId } from "../../../services/database/Ids.ts"
import { RecordNotFound, Unprocessable } from "../../../services/runtime/Errors.ts"
import { hidden } from "../../html/Forms.ts"
import { type Html, html } from "../../html/Html.ts"
import { AnnouncementViews } from "../../render/AnnouncementViews.ts"
import { StatusViews } from "../../render/StatusViews.ts"
import type { Announcement } from "../../wire/Announcement.ts"
import { read, type Values } from "../../wire/Keys.ts"
import { actForm } from "../shell/ActForm.ts"
import type { MemberVisit } from "../shell/Visit.ts"
import { WebPages } from "../shell/WebPages.ts"
import { excerptLink } from "../status/Excerpt.ts"
import { contentOf } from "../status/StatusText.ts"
import { timeOf } from "../status/Times.ts"

type ShownAnnouncement = Values<Announcement>

const actPath = (id: string) => `/web/announcements/${id}`

/** Emoji that are offered as a first reaction. */
const offered = ["👍", "❤️", "🎉"]

const reactionsOf = (visit: MemberVisit, { id, reactions }: ShownAnnouncement): Html => {
  const { figure, say } = visit.reader.words
  const used = new Set(reactions.map(({ name }) => name))
  const one = (name: string, picture: Html | string, me: boolean, count: number) =>
    actForm(
      visit,
      actPath(id),
      html`${hidden("name", name)}<button type="submit" name="act" value="${
        me ? "unreact" : "react"
      }" class="switch small" aria-pressed="${me ? "true" : "false"}">${picture}${
        count === 0 ? "" : ` ${figure(count)}`
      }</button>`
    )
  return html`<div class="tools" role="group" aria-label="${say("Reactions")}">${
    reactions.map(({ count, me, name, staticUrl }) =>
      one(
        name,
        staticUrl === undefined ? name : html`<img class="emoji" src="${staticUrl}" alt=":${name}:">`,
        me === true,
        count
      )
    )
  }${offered.filter((name) => !used.has(name)).map((name) => one(name, name, false, 0))}${
    actForm(
      visit,
      actPath(id),
      html`<label><span class="unseen">${
        say("Other emoji")
      }</span><input name="name" required maxlength="128" size="6" placeholder="${
        say("Emoji")
      }"></label><button type="submit" name="act" value="react" class="plain small">${say("React")}</button>`,
      "row"
    )
  }</div>`
}

const announcementOf = (visit: MemberVisit, announcement: ShownAnnouncement, now: number): Html => {
  const { words, words: { day, moment, say } } = visit.reader
  const { allDay, content, emojis, endsAt, id, mentions, publishedAt, read: isRead, startsAt, statuses, tags } =
    announcement
  const when = (at: string) => allDay ? day(new Date(at)) : `${moment(new Date(at))} UTC`
  return html`<article id="announcement-${id}" class="panel announcement${
    isRead === true ? "" : " unread"
  }" aria-label="${say("Announcement of {day}", { day: day(new Date(publishedAt)) })}">${
    startsAt === null || endsAt === null
      ? ""
      : html`<p><strong>${when(startsAt)} – ${when(endsAt)}</strong></p>`
  }<div class="content" dir="auto">${contentOf({ content, emojis, mentions, tags })}</div>${
    statuses.map((status) => html`<p class="quiet">${excerptLink(visit, status)}</p>`)
  }<p class="soft">${timeOf(words, publishedAt, now)}</p>${reactionsOf(visit, announcement)}${
    isRead === true ? "" : actForm(
      visit,
      actPath(id),
      html`<button type="submit" name="act" value="dismiss" class="plain small">${say("Mark as read")}</button>`
    )
  }</article>`
}

const make = Effect.gen(function*() {
  const actors = yield* AccountActors
  const announcements = yield* Announcements
  const pages = yield* WebPages
  const views = yield* AnnouncementViews

  /** All published announcements, whose number the service bounds; unread ones first. */
  const list = pages.member(Effect.fnUntraced(function*(visit) {
    const { words: { say } } = visit.reader
    const found = (yield* views.published(visit.viewer, true)).map(read).toReversed()
    const ordered = [...found.filter((one) => one.read !== true), ...found.filter((one) => one.read === true)]
    const now = yield* Clock.currentTimeMillis
    return {
      title: say("Announcements"),
      body: ordered.length === 0
        ? html`<p class="soft empty">${say("There are no announcements.")}</p>`
        : html`${ordered.map((one) => announcementOf(visit, one, now))}`
    }
  }))

  const act = pages.act(Effect.fnUntraced(function*(visit, form) {
    const id = parseId(visit.params["id"])
    if (id === undefined) return yield* new RecordNotFound()
    const name = (form.get("name") ?? "").trim().replace(/^:(\w+):$/, "$1")
    switch (form.get("act")) {
      case "dismiss": {
        yield* announcements.dismiss(visit.viewer, id)
        break
      }
      case "react": {
        yield* actors.tell(visit.viewer, { _tag: "ReactToAnnouncement", announcementId: id, name })
        break
      }
      case "unreact": {
        yield* actors.tell(visit.viewer, { _tag: "UnreactToAnnouncement", announcementId: id, name })
        break
      }
      default:
        return yield* new Unprocessable({ text: "Validation failed: Action is not included in the list" })
    }
    return { at: `announcement-${id}` }
  }))

  return Layer.merge(
    HttpRouter.add("GET", "/announcements", list),
    HttpRouter.add("POST", "/web/announcements/:id", act)
  )
})

/** Announcements from staff, with reactions. */
export const layer = Layer.unwrap(make).pipe(Layer.provide([AnnouncementViews.layer, StatusViews.layer]))
