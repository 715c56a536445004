import { Clock, Effect, Layer } from "effect"
import { HttpRouter } from "effect/http"
import { parseId } from "../../../services/database/Ids.ts"
import { Markers } from "../../../services/feeds/Markers.ts"
import { html } from "../../html/Html.ts"
import { StatusViews } from "../../render/StatusViews.ts"
import { read } from "../../wire/Keys.ts"
import * as Returning from "../shell/Returning.ts"
import { WebPages } from "../shell/WebPages.ts"
import { articleOf } from "../status/Article.ts"

/** Maximum posts of a request. */
const partsMax = 40

const make = Effect.gen(function*() {
  const markers = yield* Markers
  const pages = yield* WebPages
  const returning = yield* Returning.make
  const views = yield* StatusViews

  /** Articles of posts that a page shows, as they are now. */
  const parts = pages.member(Effect.fnUntraced(function*(visit) {
    const ids = (visit.query.get("ids") ?? "").split(",").slice(0, partsMax).flatMap((text) => parseId(text) ?? [])
    const back = yield* returning
    const now = yield* Clock.currentTimeMillis
    const found = yield* views.renderNamed(visit.viewer, ids)
    return pages.part(visit, html`${found.map((one) => articleOf({ ...visit, here: back }, read(one), { now }))}`)
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
    HttpRouter.add("POST", "/web/markers", mark)
  )
})

/** Parts of pages that scripts fetch, and the place in Home that they save. */
export const layer = Layer.unwrap(make).pipe(Layer.provide(StatusViews.layer))
