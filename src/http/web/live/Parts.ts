import { Clock, Effect, Layer } from "effect"
import { HttpRouter } from "effect/http"
import { parseId } from "../../../services/database/Ids.ts"
import { Markers } from "../../../services/feeds/Markers.ts"
import { everything, Notifications } from "../../../services/feeds/Notifications.ts"
import { html } from "../../html/Html.ts"
import { AccountViews } from "../../render/AccountViews.ts"
import { StatusViews } from "../../render/StatusViews.ts"
import { read } from "../../wire/Keys.ts"
import { followForm } from "../account/FollowForm.ts"
import * as People from "../account/People.ts"
import { unreadBadge, unreadMax } from "../shell/Navigation.ts"
import * as Returning from "../shell/Returning.ts"
import type { Visit } from "../shell/Visit.ts"
import { WebPages } from "../shell/WebPages.ts"
import { articleOf } from "../status/Article.ts"

/** Maximum posts, and maximum accounts, of a request. */
const partsMax = 40
const accountRowsMax = 80

const namedIn = ({ query }: Visit, max: number): ReadonlyArray<bigint> =>
  (query.get("ids") ?? "").split(",").slice(0, max).flatMap((text) => parseId(text) ?? [])

const make = Effect.gen(function*() {
  const markers = yield* Markers
  const notifications = yield* Notifications
  const pages = yield* WebPages
  const people = yield* People.make
  const returning = yield* Returning.make
  const views = yield* StatusViews

  /** Articles of posts that a page shows, as they are now. */
  const parts = pages.member(Effect.fnUntraced(function*(visit) {
    const ids = namedIn(visit, partsMax)
    const back = yield* returning
    const now = yield* Clock.currentTimeMillis
    const found = yield* views.renderNamed(visit.viewer, ids)
    return pages.part(
      visit,
      html`${found.map((one) => articleOf({ ...visit, pathAndQuery: back }, read(one), { now }))}`
    )
  }))

  /** Number of unread notifications, as the menu shows it. */
  const unread = pages.member(Effect.fnUntraced(function*(visit) {
    const count = yield* notifications.unread(visit.viewer, everything, unreadMax)
    return pages.part(visit, unreadBadge(visit.reader.words, count))
  }))

  /** Follow buttons of accounts that a page shows, as they are now. */
  const follows = pages.member(Effect.fnUntraced(function*(visit) {
    const back = yield* returning
    const shown = yield* people.load(visit, namedIn(visit, accountRowsMax))
    return pages.part(
      visit,
      html`${
        shown.map(({ account, relationship }) => followForm({ ...visit, pathAndQuery: back }, account, relationship))
      }`
    )
  }))

  /** Saves the place in Home; it only moves forward, as those of apps do. */
  const mark = pages.act(Effect.fnUntraced(function*({ viewer }, form) {
    const id = parseId(form.get("id"))
    const [known] = yield* markers.of(viewer, ["home"])
    if (id !== undefined && (known === undefined || known.lastReadId < id)) {
      yield* markers.save(viewer, [{ timeline: "home", lastReadId: id }])
    }
    return { part: Effect.succeed(html``) }
  }))

  return Layer.mergeAll(
    HttpRouter.add("GET", "/web/statuses", parts),
    HttpRouter.add("GET", "/web/unread", unread),
    HttpRouter.add("GET", "/web/follows", follows),
    HttpRouter.add("POST", "/web/markers", mark)
  )
})

/** Parts of pages that scripts fetch, and the place in Home that they save. */
export const layer = Layer.unwrap(make).pipe(Layer.provide([AccountViews.layer, StatusViews.layer]))
