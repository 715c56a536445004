import { Clock, Effect, Layer } from "effect"
import { HttpRouter } from "effect/http"
import { Catchups } from "../../../services/feeds/Catchups.ts"
import { hidden } from "../../html/Forms.ts"
import { type Html, html } from "../../html/Html.ts"
import { StatusViews } from "../../render/StatusViews.ts"
import { read } from "../../wire/Keys.ts"
import { offsetLinks, offsetOf } from "../shell/OffsetPaging.ts"
import type { MemberVisit } from "../shell/Visit.ts"
import { WebPages } from "../shell/WebPages.ts"
import { articlesOf } from "../status/ArticleFeed.ts"
import { previewOf } from "../status/StatusCard.ts"
import type { ShownStatus } from "../status/StatusText.ts"

/** Posts of a page, and links shown above them. */
const catchupRows = 40
const linksMax = 5

/** Spans on offer, in hours; the last is the maximum of the service. */
const spans = [3, 6, 12, 24, 48, 72]
const spanDefault = 24

/** Orders of the posts; "quiet" is the order of the service: accounts with few posts first. */
const orders = ["quiet", "newest", "oldest"] as const

const chosen = ({ query }: MemberVisit) => ({
  span: spans.find((hours) => String(hours) === query.get("span")) ?? spanDefault,
  order: orders.find((order) => order === query.get("sort")) ?? "quiet"
})

const ordered = (order: typeof orders[number], ids: ReadonlyArray<bigint>): ReadonlyArray<bigint> => {
  if (order === "quiet") return ids
  const rising = ids.toSorted((a, b) => a < b ? -1 : a > b ? 1 : 0)
  return order === "oldest" ? rising : rising.toReversed()
}

const choice = (visit: MemberVisit): Html => {
  const { query, reader: { words: { say } } } = visit
  const { order, span } = chosen(visit)
  const lang = query.get("lang")
  const option = (value: string, label: string, isChosen: boolean) =>
    html`<option value="${value}"${isChosen ? html` selected` : ""}>${label}</option>`
  const labels = {
    quiet: say("People with few posts first"),
    newest: say("Newest first"),
    oldest: say("Oldest first")
  }
  return html`<form action="/catchup" class="bar-form">${lang === null ? "" : hidden("lang", lang)}<label>${
    say("Posts from the last")
  }<select name="span">${
    spans.map((hours) =>
      option(String(hours), say("{count, plural, one {# hour} other {# hours}}", { count: hours }), hours === span)
    )
  }</select></label><label>${say("Order")}<select name="sort">${
    orders.map((one) => option(one, labels[one], one === order))
  }</select></label><button type="submit">${say("Show")}</button></form>`
}

/** Renders the links of statuses. */
const linksOf = ({ reader: { words: { say } } }: MemberVisit, statuses: ReadonlyArray<ShownStatus>): Html => {
  const shown = statuses.flatMap(({ card, reblog }) => (reblog === null ? card : reblog.card) ?? [])
  return shown.length === 0
    ? html``
    : html`<details><summary>${say("Links in these posts")}</summary>${shown.map(previewOf)}</details>`
}

const make = Effect.gen(function*() {
  const catchups = yield* Catchups
  const pages = yield* WebPages
  const views = yield* StatusViews

  const show = pages.member(Effect.fnUntraced(function*(visit) {
    const { words: { say } } = visit.reader
    const { order, span } = chosen(visit)
    const stretch = offsetOf(visit, catchupRows)
    const since = (yield* Clock.currentTimeMillis) - span * 3_600_000
    const ids = ordered(order, yield* views.unhidden(visit.viewer, yield* catchups.since(visit.viewer, since), "home"))
    const page = ids.slice(stretch.offset, stretch.offset + stretch.limit)
    // The links of the whole span, also of posts that are on other pages.
    const linking = yield* catchups.linking(ids, linksMax)
    const shownIds = [...new Set([...page, ...linking])]
    const rendered = new Map(
      (yield* views.render(visit.viewer, shownIds, "authors", "home")).map(read).map((one) => [BigInt(one.id), one])
    )
    const items = page.flatMap((id) => rendered.get(id) ?? [])
    return {
      title: say("Catch up"),
      body: html`${choice(visit)}<p class="soft">${
        say("{count, plural, one {# post} other {# posts}} from people you follow", { count: ids.length })
      }</p>${linksOf(visit, linking.flatMap((id) => rendered.get(id) ?? []))}${
        items.length === 0 ? "" : yield* articlesOf(visit, say("Catch up"), items)
      }${offsetLinks(visit, stretch, page.length)}`
    }
  }))
  return HttpRouter.add("GET", "/catchup", show)
})

/** Posts of Home that the member missed in a span of time, ordered by account or time. */
export const layer = Layer.unwrap(make).pipe(Layer.provide(StatusViews.layer))
