import { Effect, Layer } from "effect"
import { AccountActors } from "../../../actors/account/core/AccountActors.ts"
import {
  type Announcement,
  type AnnouncementChange,
  announcementCharactersMax
} from "../../../services/announcements/Announcement.ts"
import { AnnouncementWriter } from "../../../services/announcements/AnnouncementWriter.ts"
import { RecordNotFound, validationFailed } from "../../../services/runtime/Errors.ts"
import { momentOf } from "../../../services/runtime/Moments.ts"
import { type Html, html } from "../../html/Html.ts"
import { actButton, button, checkbox, form, textArea, textField } from "../../staff/pages/parts/Controls.ts"
import { emptyList, table, total } from "../../staff/pages/parts/Tables.ts"
import { badge, moment, section } from "../../staff/pages/parts/Texts.ts"
import { StaffPages } from "../../staff/pages/StaffPages.ts"
import { requireId, type Visit } from "../../staff/pages/StaffVisit.ts"

const path = "/admin/announcements"
/** Characters of an announcement that the list shows. */
const shownMax = 200

const times = [["starts_at", "startsAt", "Starts at"], ["ends_at", "endsAt", "Ends at"], [
  "scheduled_at",
  "scheduledAt",
  "Scheduled at"
]] as const

/** Formats a date for a form field: UTC, to the minute. */
const fieldOf = (date: Date | null): string => date === null ? "" : date.toISOString().slice(0, 16)

const fields = (visit: Visit, one?: Announcement): Html => {
  const { words: { say } } = visit
  const labels = {
    ["starts_at"]: say("Begins"),
    ["ends_at"]: say("Ends"),
    ["scheduled_at"]: say("Publish automatically at")
  }
  return html`${
    textArea(visit, {
      name: "text",
      label: say("Text"),
      value: one?.text ?? "",
      rows: 5,
      max: announcementCharactersMax,
      required: true
    })
  }${
    times.map(([name, key]) =>
      textField(visit, {
        name,
        type: "datetime-local",
        label: labels[name],
        hint: say("UTC"),
        value: fieldOf(one?.[key] ?? null)
      })
    )
  }${checkbox(visit, { name: "all_day", label: say("Dates only, no times"), checked: one?.allDay ?? false })}`
}

const changeIn = Effect.fnUntraced(function*({ form: sent }: Visit) {
  const change: { -readonly [Key in keyof AnnouncementChange]: AnnouncementChange[Key] } = {
    text: sent.get("text") ?? "",
    allDay: sent.get("all_day") === "yes"
  }
  for (const [name, key, label] of times) {
    const text = sent.get(name)?.trim() ?? ""
    const millis = text === "" ? null : momentOf(text.endsWith("Z") ? text : `${text}Z`)
    if (millis === undefined) return yield* validationFailed(`${label} is invalid`)
    change[key] = millis
  }
  return change
})

const make = Effect.gen(function*() {
  const actors = yield* AccountActors
  const staff = yield* StaffPages
  const writer = yield* AnnouncementWriter

  const asked = Effect.fnUntraced(function*(visit: Visit) {
    const id = yield* requireId(visit)
    const found = (yield* Effect.orDie(writer.list)).find((one) => one.id === id)
    return found ?? (yield* new RecordNotFound())
  })
  const stateOf = ({ words: { say }, words }: Visit, { publishedAt, scheduledAt }: Announcement): Html =>
    publishedAt !== null
      ? badge(say("Published"), "good")
      : scheduledAt !== null
      ? html`${badge(say("Scheduled"), "warn")} ${moment(words, scheduledAt)}`
      : badge(say("Draft"))

  const show = Effect.fnUntraced(function*(visit: Visit) {
    const { words: { say }, words } = visit
    const all = (yield* Effect.orDie(writer.list)).toSorted((a, b) => a.id < b.id ? 1 : -1)
    const rows = all.map((one) => [
      html`<a href="${path}/${String(one.id)}"><bdi>${one.text.slice(0, shownMax)}</bdi></a>`,
      stateOf(visit, one),
      html`${moment(words, one.startsAt)} – ${moment(words, one.endsAt)}`,
      moment(words, one.updatedAt)
    ])
    return {
      title: say("Announcements"),
      body: html`${total(visit, rows.length)}${
        rows.length === 0
          ? emptyList(say("There are no announcements yet."))
          : table([say("Text"), say("State"), say("Time"), say("Changed")], rows, say("Announcements"))
      }${
        section(
          say("New announcement"),
          form(
            visit,
            html`${fields(visit)}<p class="row">${button("publish", say("Publish"), "main")}${
              button("draft", say("Save as draft"))
            }</p>`
          )
        )
      }`
    }
  })

  const create = (unpublished: boolean) =>
    Effect.fnUntraced(function*(visit: Visit) {
      const announcement = yield* changeIn(visit)
      const { id } = yield* actors.tell(visit.by, { _tag: "CreateAnnouncement", announcement, unpublished })
      const { say } = visit.words
      return unpublished
        ? { notice: say("The draft was saved."), to: `${path}/${id}` }
        : { notice: say("The announcement was created."), undo: { path: `${path}/${id}`, act: "unpublish" } }
    })
  const list = staff.page({
    path: "/admin/announcements",
    permission: "manageAnnouncements",
    show,
    acts: {
      publish: {
        confirm: ({ words: { say } }) =>
          Effect.succeed({
            title: say("Publish this announcement?"),
            text: say("Everyone who is signed in will see it, now or at the scheduled time. You can unpublish it."),
            button: say("Publish")
          }),
        run: create(false)
      },
      draft: { run: create(true) }
    }
  })

  const tell = (tag: "PublishAnnouncement" | "UnpublishAnnouncement") =>
    Effect.fnUntraced(function*(visit: Visit) {
      yield* actors.tell(visit.by, { _tag: tag, announcementId: yield* requireId(visit) })
      const { say } = visit.words
      return tag === "PublishAnnouncement"
        ? { notice: say("The announcement is published."), undo: { path: visit.path, act: "unpublish" } }
        : { notice: say("The announcement is a draft again."), undo: { path: visit.path, act: "publish" } }
    })

  const one = staff.page({
    path: "/admin/announcements/:id",
    permission: "manageAnnouncements",
    show: Effect.fnUntraced(function*(visit) {
      const { words: { say } } = visit
      const found = yield* asked(visit)
      return {
        title: say("Announcement"),
        body: html`<div class="row top">${stateOf(visit, found)}${
          found.publishedAt === null
            ? actButton(visit, "publish", say("Publish"), { kind: "main" })
            : actButton(visit, "unpublish", say("Unpublish"))
        }${actButton(visit, "remove", say("Remove"), { kind: "danger" })}</div>${
          section(say("Announcement"), form(visit, html`${fields(visit, found)}${button("save", say("Save"), "main")}`))
        }<p><a href="${path}">${say("All announcements")}</a></p>`
      }
    }),
    acts: {
      publish: { run: tell("PublishAnnouncement") },
      unpublish: { run: tell("UnpublishAnnouncement") },
      save: {
        run: Effect.fnUntraced(function*(visit) {
          const announcementId = yield* requireId(visit)
          yield* actors.tell(visit.by, { _tag: "UpdateAnnouncement", announcementId, change: yield* changeIn(visit) })
          return { notice: visit.words.say("The announcement was changed.") }
        })
      },
      remove: {
        confirm: (visit) =>
          Effect.map(asked(visit), ({ text }) => ({
            title: visit.words.say("Remove this announcement?"),
            text: html`<p><bdi>${text.slice(0, shownMax)}</bdi></p><p>${
              visit.words.say(
                "The announcement and its reactions are deleted. This cannot be undone; unpublishing keeps it as a draft."
              )
            }</p>`,
            button: visit.words.say("Remove"),
            danger: true
          })),
        run: Effect.fnUntraced(function*(visit) {
          yield* actors.tell(visit.by, { _tag: "DeleteAnnouncement", announcementId: yield* requireId(visit) })
          return { notice: visit.words.say("The announcement was removed."), to: path }
        })
      }
    }
  })
  return Layer.merge(list, one)
})

/** Announcements: drafts, scheduled and published ones. */
export const layer = Layer.unwrap(make).pipe(Layer.provide(AnnouncementWriter.layer))
