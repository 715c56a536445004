import { Effect } from "effect"
import type { FilterContext } from "../../services/filters/Filter.ts"
import type { Hiding, StatusKey, ViewerState } from "../../services/statuses/ViewerState.ts"
import type { Viewer } from "../../services/visibility/Viewer.ts"
import type { JsonOf } from "../wire/Keys.ts"
import type { Status } from "../wire/Status.ts"
import type { AccountViews } from "./AccountViews.ts"
import * as QuotedStatuses from "./QuotedStatuses.ts"
import { authorsOf, compose, type PreparedStatus, type StatusParts } from "./StatusBodies.ts"
import * as StatusFilters from "./StatusFilters.ts"
import type * as ViewerStateCache from "./ViewerStateCache.ts"

interface Showing {
  /** Context in which statuses that the viewer's filters hide are left out. */
  readonly context?: FilterContext | undefined
  readonly assemble?: StatusParts["assemble"]
  /** Viewer states that are known without a query. */
  readonly known?: ReadonlyMap<bigint, ViewerState>
}

/** Builds the renderer of a viewer's statuses from loaded bodies; once. */
export const make = (
  { accounts, cachedStates, filters, quotes }: {
    readonly accounts: AccountViews["Service"]
    readonly filters: ReturnType<typeof StatusFilters.make>
    readonly cachedStates: Effect.Success<ReturnType<typeof ViewerStateCache.make>>
    readonly quotes: ReturnType<typeof QuotedStatuses.make>
  }
) => {
  const filterOf = (viewer: Viewer) => viewer === undefined ? Effect.undefined : filters.find(viewer)

  const authors = (keys: ReadonlyArray<StatusKey>, page: QuotedStatuses.QuotedPage) =>
    accounts.byId(authorsOf([...keys, ...QuotedStatuses.shownQuotes(keys, page)], page.bodies))

  /** Renders the statuses in `ids` that the viewer may see. */
  const show = Effect.fnUntraced(function*(
    viewer: Viewer,
    ids: ReadonlyArray<bigint>,
    hiding: Hiding,
    found: ReadonlyMap<bigint, PreparedStatus>,
    { assemble, context, known }: Showing = {}
  ) {
    const keys = ids.flatMap((id) => found.get(id)?.key ?? [])
    const shown = known ?? (yield* cachedStates.of(viewer, keys, hiding))
    const visibleKeys = keys.filter(({ id }) => shown.has(id))
    const page = yield* quotes.of(viewer, visibleKeys, found)
    const names = yield* authors(visibleKeys, page)
    const filter = shown.size === 0 ? undefined : yield* filterOf(viewer)
    if (filter !== undefined) {
      yield* StatusFilters.compared(
        filter,
        [...visibleKeys, ...QuotedStatuses.shownQuotes(visibleKeys, page)],
        page.bodies
      )
    }
    const parts = QuotedStatuses.partsOf(viewer, page, names, filter, assemble)
    const texts = new Map<bigint, JsonOf<Status>>()
    for (const key of visibleKeys) {
      const state = shown.get(key.id)
      if (state === undefined) continue
      if (context !== undefined && QuotedStatuses.hiddenIn(key, page, filter).includes(context)) continue
      const { filtered } = filter?.(key, page.bodies) ?? StatusFilters.unfiltered
      const text = compose(parts, key, state, filtered)
      if (text !== undefined) texts.set(key.id, text)
    }
    return texts
  })

  return { authors, filterOf, show }
}
