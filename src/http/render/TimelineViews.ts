import { Effect } from "effect"
import type { AccountId } from "../../services/database/Ids.ts"
import type { Page } from "../../services/database/Paging.ts"
import { HomeTimelines } from "../../services/feeds/HomeTimelines.ts"
import type { Viewer } from "../../services/visibility/Viewer.ts"
import { allShown, filled, singleEnds } from "./FilledPages.ts"
import { StatusViews } from "./StatusViews.ts"

/**
 * Makes functions that render pages of timelines. Each returns the statuses that are shown as `items`, and as `read`
 * the ids from which the cursors of the page are made. Made once per group.
 */
export const make = Effect.gen(function*() {
  const homes = yield* HomeTimelines
  const views = yield* StatusViews

  /** Renders a page of Home without excluded posts; `regenerating` if the feed is not complete yet. */
  const home = Effect.fnUntraced(function*(
    viewer: AccountId,
    exclusions: { readonly replies: boolean; readonly reblogs: boolean },
    page: Page
  ) {
    const excludes = exclusions.replies || exclusions.reblogs
    const left = (ids: ReadonlyArray<bigint>) => excludes ? homes.without(exclusions, viewer, ids) : Effect.succeed(ids)
    let isRegenerating = false
    const { items, read } = yield* filled({
      page,
      hides: excludes ? Effect.succeed(true) : views.hides(viewer),
      unhidden: (ids) => Effect.flatMap(left(ids), (ids) => views.unhidden(viewer, ids, "home")),
      ends: singleEnds,
      read: Effect.fnUntraced(function*(page) {
        const { ids, read, regenerating } = yield* homes.page(viewer, page)
        if (regenerating) isRegenerating = true
        return { read, candidates: ids }
      }),
      show: (ids) => Effect.flatMap(left(ids), (ids) => views.render(viewer, ids, "authors", "home"))
    })
    return { items, read, regenerating: isRegenerating }
  })

  /** Renders a page of a public timeline, of which `read` returns the ids. */
  const everybody = (
    viewer: Viewer,
    page: Page,
    read: (page: Page) => Effect.Effect<ReadonlyArray<bigint>>
  ) =>
    filled({
      page,
      hides: views.hides(viewer),
      unhidden: (ids) => views.unhidden(viewer, ids, "public"),
      ends: singleEnds,
      read: (page) => Effect.map(read(page), allShown),
      show: (ids) => views.render(viewer, ids, "permitted", "public")
    })

  return { home, everybody }
})
