import { Effect, Layer } from "effect"
import { HttpRouter } from "effect/http"
import { NotificationRequests } from "../../../services/feeds/NotificationRequests.ts"
import { Unprocessable } from "../../../services/runtime/Errors.ts"
import { hidden } from "../../html/Forms.ts"
import { html } from "../../html/Html.ts"
import { AccountViews } from "../../render/AccountViews.ts"
import * as Lists from "../../render/ListResponses.ts"
import { notificationRows } from "../../render/PageSizes.ts"
import { StatusViews } from "../../render/StatusViews.ts"
import { read } from "../../wire/Keys.ts"
import { accountRow } from "../account/AccountRow.ts"
import * as People from "../account/People.ts"
import { actForm } from "../shell/ActForm.ts"
import { bulkForm, bulkMark } from "../shell/BulkForm.ts"
import { pageOf, pagingLinks } from "../shell/CursorPaging.ts"
import { WebPages } from "../shell/WebPages.ts"
import { excerptLink } from "../status/Excerpt.ts"
import { notificationTabs } from "./NotificationPages.ts"

const actPath = "/web/notification_requests"

const make = Effect.gen(function*() {
  const pages = yield* WebPages
  const people = yield* People.make
  const requests = yield* NotificationRequests
  const statuses = yield* StatusViews

  const list = pages.member(Effect.fnUntraced(function*(visit) {
    const { way, words: { say } } = visit.reader
    const page = pageOf(visit, notificationRows)
    const rows = yield* requests.page(visit.viewer, page)
    const senders = yield* people.byId(visit, rows.map(({ fromAccountId }) => fromAccountId))
    const shown = yield* statuses.byId(visit.viewer, rows.map(({ lastStatusId }) => lastStatusId))
    const entries = rows.flatMap((row) => {
      const sender = senders.get(row.fromAccountId)
      if (sender === undefined) return []
      const { account } = sender
      const last = shown.get(row.lastStatusId)
      const name = html`<span class="unseen"> @${account.acct}</span>`
      return [accountRow(visit, account, {
        before: bulkMark(String(row.id), say("Select {account}", { account: `@${account.acct}` })),
        below: html`<p><a href="${way(`/notifications?account=${account.id}`)}">${
          say("{count, plural, one {# notification} other {# notifications}}", { count: row.count })
        }${name}</a></p>${last === undefined ? "" : html`<p class="quiet">${excerptLink(visit, read(last))}</p>`}`,
        acts: actForm(
          visit,
          actPath,
          html`${hidden("id", String(row.id))}<button type="submit" name="act" value="accept">${
            say("Accept")
          }${name}</button>
<button type="submit" name="act" value="dismiss" class="plain">${say("Dismiss")}${name}</button>`
        )
      })]
    })
    return {
      title: say("Notification requests"),
      body: html`${notificationTabs(visit)}<div class="tools"><span class="soft">${
        say("Filtered notifications wait here, by sender.")
      }</span> <a href="${way("/settings/notifications")}">${say("Notification settings")}</a></div>${
        entries.length === 0
          ? html`<p class="soft empty">${say("No requests.")}</p>`
          : html`${
            bulkForm(visit, actPath, [["accept", say("Accept selected")], ["dismiss", say("Dismiss selected")]])
          }${People.listOf(entries)}`
      }${pagingLinks(visit, page, rows.map(({ id }) => id))}`
    }
  }))

  const act = pages.act(Effect.fnUntraced(function*(visit, form) {
    const name = form.get("act")
    if (name !== "accept" && name !== "dismiss") {
      return yield* new Unprocessable({ text: "Validation failed: Action is not included in the list" })
    }
    yield* requests[name](visit.viewer, Lists.idsOf(form.getAll("id")))
    return {}
  }))

  return Layer.merge(HttpRouter.add("GET", "/notifications/requests", list), HttpRouter.add("POST", actPath, act))
})

/** Senders with filtered notifications, to be accepted or dismissed. */
export const layer = Layer.unwrap(make).pipe(Layer.provide([AccountViews.layer, StatusViews.layer]))
