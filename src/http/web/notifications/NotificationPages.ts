import { Clock, Effect, Layer } from "effect"
import { HttpRouter } from "effect/http"
import { parseId } from "../../../services/database/Ids.ts"
import { GroupedNotifications, pageRowsMax } from "../../../services/feeds/GroupedNotifications.ts"
import { Markers } from "../../../services/feeds/Markers.ts"
import { groupableTypes } from "../../../services/feeds/NotificationGroups.ts"
import { everything, Notifications } from "../../../services/feeds/Notifications.ts"
import { Unprocessable } from "../../../services/runtime/Errors.ts"
import { hidden } from "../../html/Forms.ts"
import { type Html, html } from "../../html/Html.ts"
import { AccountViews } from "../../render/AccountViews.ts"
import * as NotificationGroupPages from "../../render/NotificationGroupPages.ts"
import { NotificationGroupViews } from "../../render/NotificationGroupViews.ts"
import { NotificationViews } from "../../render/NotificationViews.ts"
import { notificationRows } from "../../render/PageSizes.ts"
import { StatusViews } from "../../render/StatusViews.ts"
import { read } from "../../wire/Keys.ts"
import * as People from "../account/People.ts"
import { actForm } from "../shell/ActForm.ts"
import { pageOf, pagingLinks } from "../shell/CursorPaging.ts"
import { tabsOf } from "../shell/Tabs.ts"
import type { MemberVisit } from "../shell/Visit.ts"
import { WebPages } from "../shell/WebPages.ts"
import { entryOf, notificationActPath } from "./Entry.ts"

/** Renders the tabs of notifications. */
export const notificationTabs = (visit: MemberVisit): Html => {
  const { say } = visit.reader.words
  return tabsOf(visit, say("Notifications"), [
    ["/notifications", say("All")],
    ["/notifications?type=mentions", say("Mentions")],
    ["/notifications/requests", say("Requests")]
  ])
}

const clearForm = (visit: MemberVisit): Html => {
  const { say } = visit.reader.words
  return html`<details><summary>${say("Clear all")}</summary>${
    actForm(
      visit,
      notificationActPath,
      html`<p>${
        say("All notifications are deleted permanently.")
      }</p><button type="submit" name="act" value="clear" class="danger">${say("Clear all notifications")}</button>`,
      "stack"
    )
  }</details>`
}

const markForm = (visit: MemberVisit, newest: bigint): Html =>
  actForm(
    visit,
    notificationActPath,
    html`${hidden("last", String(newest))}<button type="submit" name="act" value="read" class="plain small">${
      visit.reader.words.say("Mark as read")
    }</button>`,
    "mark-read"
  )

const make = Effect.gen(function*() {
  const groups = yield* GroupedNotifications
  const groupPage = yield* NotificationGroupPages.make
  const markers = yield* Markers
  const notifications = yield* Notifications
  const pages = yield* WebPages
  const people = yield* People.make
  const views = yield* NotificationGroupViews

  const lastRead = (visit: MemberVisit) =>
    Effect.map(markers.of(visit.viewer, ["notifications"]), ([marker]) => marker?.lastReadId ?? 0n)

  const list = pages.member(Effect.fnUntraced(function*(visit) {
    const { words: { say } } = visit.reader
    const accountId = parseId(visit.query.get("account"))
    const page = pageOf(visit, notificationRows)
    const selection = {
      ...everything,
      types: visit.query.get("type") === "mentions" ? ["mention"] : [],
      accountId,
      includeFiltered: accountId !== undefined
    }
    const { items, read: rows } = yield* groupPage(visit.viewer, selection, groupableTypes, page)
    const found = read(yield* views.render(visit.viewer, items, false))
    const accounts = new Map(found.accounts.map((account) => [account.id, account]))
    const statuses = new Map(found.statuses.map((status) => [status.id, status]))
    const followers = found.notificationGroups.flatMap(({ sampleAccountIds, type }) =>
      type === "follow" || type === "follow_request" ? sampleAccountIds.slice(0, 1).map(BigInt) : []
    )
    const known = yield* people.byId(visit, followers)
    const [lastReadId, now] = [yield* lastRead(visit), yield* Clock.currentTimeMillis]
    const entries = found.notificationGroups.flatMap((group) => {
      const [newest, ...others] = group.sampleAccountIds.flatMap((id) => accounts.get(id) ?? [])
      return newest === undefined ? [] : [entryOf(visit, {
        group,
        accounts: [newest, ...others],
        status: statuses.get(group.statusId ?? ""),
        relationship: known.get(BigInt(newest.id))?.relationship,
        unread: BigInt(group.pageMaxId ?? 0) > lastReadId,
        now
      })]
    })
    const newest = rows[0]?.newest.id ?? 0n
    // The oldest id ends the page, as a group may reach below the rows that follow it.
    const oldest = rows.reduce((low, row) => row.oldest.id < low ? row.oldest.id : low, newest)
    const isFull = rows.length >= page.limit || rows.reduce((sum, { count }) => sum + count, 0) >= pageRowsMax
    return {
      title: say("Notifications"),
      scripts: ["follow", "read"],
      liveNotifications: page.maxId === undefined && page.minId === undefined && accountId === undefined,
      body: html`${notificationTabs(visit)}<div class="tools">${
        newest > lastReadId && page.maxId === undefined && accountId === undefined ? markForm(visit, newest) : ""
      }<a href="${visit.reader.way("/settings/notifications")}">${say("Notification settings")}</a></div>${
        entries.length === 0
          ? html`<p class="soft empty">${say("No notifications.")}</p>`
          : html`<div role="feed" aria-label="${say("Notifications")}" class="feed">${entries}</div>`
      }${pagingLinks(visit, { ...page, limit: isFull ? 1 : page.limit }, rows.length === 0 ? [] : [newest, oldest])}${
        entries.length === 0 || accountId !== undefined ? "" : clearForm(visit)
      }`
    }
  }))

  /** Moves the marker forward only: another device may have read more. */
  const markRead = Effect.fnUntraced(function*(visit: MemberVisit, last: bigint) {
    if (last <= (yield* lastRead(visit))) return
    yield* markers.save(visit.viewer, [{ timeline: "notifications", lastReadId: last }])
  }, Effect.catchTag("Conflict", () => Effect.void))

  const act = pages.act(Effect.fnUntraced(function*(visit, form) {
    switch (form.get("act")) {
      case "read": {
        yield* markRead(visit, parseId(form.get("last")) ?? 0n)
        return {}
      }
      case "dismiss": {
        const members = yield* groups.members(visit.viewer, form.get("group") ?? "")
        yield* notifications.dismiss(visit.viewer, members.map(({ id }) => id))
        return {}
      }
      case "clear": {
        yield* notifications.clear(visit.viewer)
        return { to: "/notifications", notice: visit.reader.words.say("All notifications were deleted.") }
      }
      default:
        return yield* new Unprocessable({ text: "Validation failed: Action is not included in the list" })
    }
  }))

  return Layer.merge(
    HttpRouter.add("GET", "/notifications", list),
    HttpRouter.add("POST", notificationActPath, act)
  )
})

/** Grouped notifications, and the acts on them. */
export const layer = Layer.unwrap(make).pipe(
  Layer.provide([AccountViews.layer, NotificationGroupViews.layer, NotificationViews.layer, StatusViews.layer])
)
