import type { Effect } from "effect"
import type { AccountId } from "../../services/database/Ids.ts"
import type { FilterContext } from "../../services/filters/Filter.ts"
import { traced } from "../../services/runtime/Traced.ts"
import type { QuotedState, ViewerState } from "../../services/statuses/ViewerState.ts"
import type { ViewerStates } from "../../services/statuses/ViewerStates.ts"
import { yieldBudget } from "../../services/text/Turns.ts"
import type { JsonOf } from "../wire/Keys.ts"
import type { Status } from "../wire/Status.ts"
import type { AccountViews } from "./AccountViews.ts"
import * as QuotedStatuses from "./QuotedStatuses.ts"
import { authorsOf, compose, type PreparedStatus } from "./StatusBodies.ts"
import * as StatusFilters from "./StatusFilters.ts"

/** A status as a particular viewer gets it. */
export interface AddressedStatus {
  readonly text: JsonOf<Status>
  /** Contexts in which the viewer's filters hide it. */
  readonly hiddenIn: ReadonlyArray<FilterContext>
}

/** Returns a key of the viewer-specific parts of a state. */
const viewOf = ({ bookmarked, favourited, may, muted, pinned, quoting, reactions, reblogged, votes }: ViewerState) =>
  `${bookmarked},${favourited},${muted},${pinned},${reblogged},${quoting}` +
  (may === undefined ? "" : `,may ${may.favourite} ${may.reply} ${may.reblog}`) +
  (votes.length === 0 ? "" : `,votes ${votes.join()}`) +
  (reactions.length === 0 ? "" : `,reactions ${reactions.map(({ me }) => me ? 1 : 0).join("")}`)
const quotesViewOf = (quotedStates: ReadonlyMap<bigint, QuotedState>) => {
  let view = ""
  for (const [id, { availability, state }] of quotedStates) {
    view += `,${id}:${availability}:${state === undefined ? "" : viewOf(state)}`
  }
  return view
}

/**
 * Renders one status for many viewers; a viewer who may not see it or hides its author is absent. Takes as many queries
 * as a page, and one string for all viewers who see the same. Built once.
 */
export const make = (
  services: {
    readonly bodies: (ids: ReadonlyArray<bigint>) => Effect.Effect<ReadonlyMap<bigint, PreparedStatus>>
    readonly viewerStates: ViewerStates["Service"]
    readonly accounts: AccountViews["Service"]
    readonly filters: ReturnType<typeof StatusFilters.make>
    readonly quotes: ReturnType<typeof QuotedStatuses.make>
  }
) => {
  const { accounts, bodies, filters, quotes, viewerStates } = services

  return traced("AddressedStatuses.make")(function*(id: bigint, viewers: ReadonlyArray<AccountId>) {
    const texts = new Map<AccountId, AddressedStatus>()
    const found = yield* bodies([id])
    const key = found.get(id)?.key
    if (key === undefined) return texts
    const shown = yield* viewerStates.forViewers(viewers, key)
    const quoted = yield* quotes.forViewers([...shown.keys()], key, found)
    const pageOf = (viewer: AccountId) => {
      const { isShared, texts: collections } = quoted.collections(viewer)
      return { bodies: quoted.bodies, quotedStates: quoted.quotedStates(viewer), collections, isShared }
    }
    // A viewer gets their own rendering if it shows them as an author.
    const named = authorsOf([key, ...quoted.shown], quoted.bodies)
    const names = yield* accounts.byId(named)
    const filtering = yield* filters.of([...shown.keys()])
    const byView = new Map<string, JsonOf<Status> | undefined>()
    const turn = yieldBudget()
    for (const [viewer, state] of shown) {
      const page = pageOf(viewer)
      const filter = filtering.get(viewer)
      if (filter !== undefined) yield* turn(page.bodies.get((key.original ?? key).id)?.body ?? "")
      const { filtered } = filter?.(key, page.bodies) ?? StatusFilters.unfiltered
      const view = named.has(viewer) || !page.isShared
        ? String(viewer)
        : `${viewOf(state)},${filtered}${quotesViewOf(page.quotedStates)}${
          quoted.shown.map((shown) => filter?.(shown, page.bodies).filtered ?? "").join()
        }`
      if (!byView.has(view)) {
        byView.set(view, compose(QuotedStatuses.partsOf(viewer, page, names, filter), key, state, filtered))
      }
      const text = byView.get(view)
      if (text !== undefined) texts.set(viewer, { text, hiddenIn: QuotedStatuses.hiddenIn(key, page, filter) })
    }
    return texts
  })
}
