import { Effect, Layer } from "effect"
import { HttpRouter } from "effect/http"
import type { Page } from "../../../services/database/Paging.ts"
import { Markers } from "../../../services/feeds/Markers.ts"
import { TimelineAccess } from "../../../services/feeds/TimelineAccess.ts"
import { Timelines } from "../../../services/feeds/Timelines.ts"
import { WebSettingsWriter } from "../../../services/identity/WebSettings.ts"
import { InstancePolicies } from "../../../services/instance/InstancePolicies.ts"
import { Bookmarks } from "../../../services/statuses/Bookmarks.ts"
import { Interactions } from "../../../services/statuses/Interactions.ts"
import type { MarkedStatus } from "../../../services/statuses/MarkedStatuses.ts"
import { hidden, tokenInput } from "../../html/Forms.ts"
import { type Html, html } from "../../html/Html.ts"
import { statusRows } from "../../render/PageSizes.ts"
import { StatusViews } from "../../render/StatusViews.ts"
import * as TimelineViews from "../../render/TimelineViews.ts"
import type { JsonOf } from "../../wire/Keys.ts"
import type { Status } from "../../wire/Status.ts"
import { composeScripts, shortForm } from "../compose/ComposeForm.ts"
import { Compositions } from "../compose/Compositions.ts"
import { pageOf, pagingLinks } from "../shell/CursorPaging.ts"
import { tabsOf } from "../shell/Tabs.ts"
import type { MemberVisit, View, Visit } from "../shell/Visit.ts"
import { WebPages } from "../shell/WebPages.ts"
import { feedOf, foldedFeedOf } from "../status/ArticleFeed.ts"

const switchesPath = "/web/home/switches"

/** Switches for replies and boosts above Home, as a form with two buttons. */
const switches = ({ formToken, pathAndQuery, reader: { words: { say } }, session: { web } }: MemberVisit): Html => {
  const one = (name: string, isOn: boolean, label: string) =>
    html`<button type="submit" name="act" value="${isOn ? "hide" : "show"}_${name}" class="switch" aria-pressed="${
      isOn ? "true" : "false"
    }">${label}</button>`
  return html`<form method="post" action="${switchesPath}" class="switches">${tokenInput(formToken)}${
    hidden("return", pathAndQuery)
  }${one("replies", web.homeReplies, say("Replies"))}${one("reblogs", web.homeReblogs, say("Boosts"))}</form>`
}

/** Tabs of the three timelines; the links to those that the member may read. */
const tabs = (visit: Visit): Html => {
  const { say } = visit.reader.words
  return tabsOf(visit, say("Timelines"), [
    ...(visit.viewer === undefined ? [] : [["/home", say("Home")] as const]),
    ["/public/local", say("Local")],
    ["/public", say("Federated")]
  ])
}

/** Link to the place up to which the member has read on any device; empty if that is the newest post. */
const continueLink = (
  { reader: { way, words: { say } } }: Visit,
  page: Page,
  shown: ReadonlyArray<bigint>,
  place: bigint | undefined
): Html => {
  const isFirst = page.maxId === undefined && page.minId === undefined
  if (!isFirst || place === undefined || shown[0] === undefined || place >= shown[0]) return html``
  const path = shown.includes(place) ? "" : way(`/home?min_id=${place - 1n}`)
  return html`<p class="continue"><a href="${path}#status-${place}">${say("Continue where you were")}</a></p>`
}

const make = Effect.gen(function*() {
  const access = yield* TimelineAccess
  const bookmarks = yield* Bookmarks
  const interactions = yield* Interactions
  const markers = yield* Markers
  const pages = yield* WebPages
  const policies = yield* InstancePolicies
  const settings = yield* WebSettingsWriter
  const timelines = yield* Timelines
  const compositions = yield* Compositions
  const views = yield* StatusViews
  const { everybody, home } = yield* TimelineViews.make

  const list = (
    visit: Visit,
    options: {
      readonly title: string
      readonly page: Page
      readonly items: ReadonlyArray<JsonOf<Status>>
      readonly cursors: ReadonlyArray<bigint>
      readonly empty: string
      readonly above?: Html
      readonly scripts?: NonNullable<View["scripts"]>
      readonly live?: string
      /** True if threads of an author are one entry. */
      readonly folds?: boolean
    }
  ): Effect.Effect<View> =>
    Effect.map((options.folds === true ? foldedFeedOf : feedOf)(visit, options.title, options.items), (feed) => ({
      title: options.title,
      scripts: options.scripts ?? [],
      ...(options.live === undefined ? {} : { live: options.live }),
      body: html`${options.above ?? ""}${
        options.items.length === 0 ? html`<p class="soft empty">${options.empty}</p>` : feed
      }${pagingLinks(visit, options.page, options.cursors)}`
    }))

  const homePage = pages.member(Effect.fnUntraced(function*(visit) {
    const { words: { say } } = visit.reader
    const { homeReblogs, homeReplies } = visit.session.web
    const page = pageOf(visit, statusRows)
    const { items, read } = yield* home(visit.viewer, { replies: !homeReplies, reblogs: !homeReblogs }, page)
    const [marker] = yield* markers.of(visit.viewer, ["home"])
    return yield* list(visit, {
      title: say("Home"),
      live: "channel=user",
      page,
      items,
      cursors: read,
      empty: say("Nothing here yet. Follow people, and their posts will appear here."),
      folds: true,
      above: html`${tabs(visit)}${shortForm(visit, yield* compositions.standard(visit.viewer))}${switches(visit)}${
        continueLink(visit, page, read, marker?.lastReadId)
      }`,
      scripts: composeScripts
    })
  }))

  const switchHome = pages.act(Effect.fnUntraced(function*(visit, form) {
    const [value, name] = (form.get("act") ?? "").split("_")
    const isOn = value === "show"
    if (name === "replies") yield* settings.change(visit.viewer, { homeReplies: isOn })
    if (name === "reblogs") yield* settings.change(visit.viewer, { homeReblogs: isOn })
    return {}
  }))

  /** Local and federated timelines, within the origins that staff opened to the viewer. */
  const publicPage = (local: boolean) =>
    pages.anyone(
      Effect.fnUntraced(function*(visit) {
        const { words: { say } } = visit.reader
        const page = pageOf(visit, statusRows)
        const selection = yield* access.narrow(visit.viewer, "liveFeeds", { local, remote: false, onlyMedia: false })
        const { items, read } = selection === undefined
          ? { items: [], read: [] }
          : yield* everybody(visit.viewer, page, (page) => timelines.publicTimeline(visit.viewer, selection, page))
        return yield* list(visit, {
          title: local ? say("Local") : say("Federated"),
          live: local ? "channel=public:local" : "channel=public",
          page,
          items,
          cursors: read,
          empty: say("There are no public posts yet."),
          above: tabs(visit)
        })
      }),
      Effect.map(
        policies.current,
        ({ timelinesAccess: { liveFeeds } }) => liveFeeds.local !== "public" || !local && liveFeeds.remote !== "public"
      )
    )

  const markedPage = (
    titleOf: (visit: Visit) => string,
    read: (visit: MemberVisit, page: Page) => Effect.Effect<ReadonlyArray<MarkedStatus>>
  ) =>
    pages.member(Effect.fnUntraced(function*(visit) {
      const page = pageOf(visit, statusRows)
      const rows = yield* read(visit, page)
      return yield* list(visit, {
        title: titleOf(visit),
        page,
        items: yield* views.render(visit.viewer, rows.map(({ statusId }) => statusId), "permitted"),
        cursors: rows.map(({ cursor }) => cursor),
        empty: visit.reader.words.say("Nothing here yet.")
      })
    }))

  return Layer.mergeAll(
    HttpRouter.add("GET", "/home", homePage),
    HttpRouter.add("POST", switchesPath, switchHome),
    HttpRouter.add("GET", "/public/local", publicPage(true)),
    HttpRouter.add("GET", "/public", publicPage(false)),
    HttpRouter.add(
      "GET",
      "/bookmarks",
      markedPage(
        ({ reader: { words: { say } } }) => say("Bookmarks"),
        ({ viewer }, page) => bookmarks.page(viewer, page)
      )
    ),
    HttpRouter.add(
      "GET",
      "/favourites",
      markedPage(
        ({ reader: { words: { say } } }) => say("Favourites"),
        ({ viewer }, page) => interactions.favouritesOf(viewer, page)
      )
    )
  )
})

/** Home, the public timelines, bookmarks and favourites. */
export const layer = Layer.unwrap(make).pipe(
  Layer.provide([Compositions.layer, StatusViews.layer, WebSettingsWriter.layer])
)
