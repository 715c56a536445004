import { Effect } from "effect"
import type { AccountId } from "../../services/database/Ids.ts"
import type { FilterContext } from "../../services/filters/Filter.ts"
import type { QuotedState, StatusKey } from "../../services/statuses/ViewerState.ts"
import type { ViewerStates } from "../../services/statuses/ViewerStates.ts"
import type { Viewer } from "../../services/visibility/Viewer.ts"
import { json, none } from "../wire/Keys.ts"
import type { ShallowQuote } from "../wire/Status.ts"
import { assemble as assembleStatus, assembleQuote } from "../wire/StatusJson.ts"
import type { CollectionTexts, CollectionViews } from "./CollectionViews.ts"
import { compose, type PreparedStatus, type StatusParts } from "./StatusBodies.ts"
import { type StatusFilter, unfiltered } from "./StatusFilters.ts"

type Bodies = ReadonlyMap<bigint, PreparedStatus>
type QuotedStates = ReadonlyMap<bigint, QuotedState>

/** Statuses with what they quote and link to. */
export interface QuotedPage {
  /** Bodies of the statuses and of those they quote. */
  readonly bodies: Bodies
  /** Viewer's relation to the quoted statuses and to those that these quote. */
  readonly quotedStates: QuotedStates
  /** Linked collections, as the viewer sees them. */
  readonly collections: CollectionTexts
}
type Quotations = Omit<QuotedPage, "collections">

const noQuotedStates: QuotedStates = new Map()
const noCollections: CollectionTexts = new Map()

/** Returns true if nothing is quoted, as on most pages; cheaper than looking up each status. */
const hasNoQuotes = (bodies: Bodies): boolean => {
  for (const { quote } of bodies.values()) if (quote !== undefined) return false
  return true
}

/** Returns the accepted quotes of statuses, or of those that they reblog. */
const quotedBy = (keys: Iterable<StatusKey>, bodies: Bodies): ReadonlyArray<StatusKey> => {
  if (hasNoQuotes(bodies)) return []
  const found = new Map<bigint, StatusKey>()
  for (const key of keys) {
    const quote = bodies.get((key.original ?? key).id)?.quote
    if (quote?.state === "accepted" && quote.key !== undefined) found.set(quote.key.id, quote.key)
  }
  return [...found.values()]
}

/** Returns the collections that statuses, or those that they reblog, link to; most pages have none. */
const linkedBy = (keys: ReadonlyArray<StatusKey>, bodies: Bodies): ReadonlyArray<bigint> => {
  const found = new Set<bigint>()
  for (const key of keys) {
    for (const id of bodies.get((key.original ?? key).id)?.collections ?? []) found.add(id)
  }
  return [...found]
}
const nothingLinked = () => ({ isShared: true, texts: noCollections })

/** Returns the key of a quoted status from its own body, if that is loaded. */
const ownKey = (bodies: Bodies) => (key: StatusKey) => bodies.get(key.id)?.key ?? key

/**
 * Builds the loader of quoted statuses and the viewer's relation to them. Without quotes it takes no query; otherwise
 * one for the relation, and one for bodies that are not cached. A quote inside a quoted status is only named, and
 * checked in the same query.
 */
export const make = (
  bodies: (ids: ReadonlyArray<bigint>) => Effect.Effect<Bodies>,
  viewerStates: ViewerStates["Service"],
  collections: CollectionViews["Service"]
) => {
  const quotedOf = Effect.fnUntraced(function*(quoted: ReadonlyArray<StatusKey>, found: Bodies) {
    const missing = quoted.filter(({ id }) => !found.has(id)).map(({ id }) => id)
    const all = missing.length === 0 ? found : new Map([...found, ...yield* bodies(missing)])
    const shown = quoted.map(ownKey(all))
    return { all, shown, named: [...new Map([...shown, ...quotedBy(shown, all)].map((key) => [key.id, key])).values()] }
  })

  const quotations = (viewer: Viewer, keys: Iterable<StatusKey>, found: Bodies): Effect.Effect<Quotations> => {
    const quoted = quotedBy(keys, found)
    return quoted.length === 0
      ? Effect.succeed({ bodies: found, quotedStates: noQuotedStates })
      : Effect.flatMap(
        quotedOf(quoted, found),
        ({ all, named }) =>
          Effect.map(viewerStates.ofQuoted(viewer, named), (quotedStates) => ({ bodies: all, quotedStates }))
      )
  }

  const of = Effect.fnUntraced(function*(viewer: Viewer, keys: ReadonlyArray<StatusKey>, found: Bodies) {
    const page = yield* quotations(viewer, keys, found)
    const ids = linkedBy([...keys, ...shownQuotes(keys, page)], page.bodies)
    return { ...page, collections: ids.length === 0 ? noCollections : yield* collections.byId(viewer, ids) }
  })

  /** Like `of`, for one status and many viewers; one query per quoted status (two at most), and two for collections. */
  const forViewers = Effect.fnUntraced(function*(viewers: ReadonlyArray<AccountId>, key: StatusKey, found: Bodies) {
    const quoted = yield* quotationsFor(viewers, key, found)
    const ids = linkedBy([key, ...quoted.shown], quoted.bodies)
    return { ...quoted, collections: ids.length === 0 ? nothingLinked : yield* collections.forViewers(viewers, ids) }
  })
  const quotationsFor = Effect.fnUntraced(function*(viewers: ReadonlyArray<AccountId>, key: StatusKey, found: Bodies) {
    const keys = quotedBy([key], found)
    if (keys.length === 0) return { bodies: found, shown: [], quotedStates: () => noQuotedStates }
    const quoted = yield* quotedOf(keys, found)
    const states = yield* Effect.forEach(
      quoted.named,
      (key) => Effect.map(viewerStates.quotedForViewers(viewers, key), (states) => [key.id, states] as const)
    )
    return {
      bodies: quoted.all,
      shown: quoted.shown,
      quotedStates: (viewer: AccountId): QuotedStates =>
        new Map(states.flatMap(([id, byViewer]) => {
          const state = byViewer.get(viewer)
          return state === undefined ? [] : [[id, state] as const]
        }))
    }
  })

  return { of, forViewers }
}

/** Returns the quoted statuses that are shown, whose authors have to be loaded. */
export const shownQuotes = (
  keys: Iterable<StatusKey>,
  { bodies, quotedStates }: Quotations
): ReadonlyArray<StatusKey> =>
  quotedStates === noQuotedStates
    ? []
    : quotedBy(keys, bodies).filter(({ id }) => quotedStates.get(id)?.state !== undefined).map(ownKey(bodies))

/** Renders the quote inside a quoted status: its id, if the viewer may see it. */
const shallowQuote = (bodies: Bodies, quotedStates: QuotedStates) => (key: StatusKey) => {
  const quote = bodies.get(key.id)?.quote
  if (quote === undefined) return none
  const { availability, state } = availabilityOf(quote, quotedStates)
  return json<ShallowQuote>({ state: availability, quotedStatusId: state === undefined ? null : String(quote.key?.id) })
}

const availabilityOf = ({ key, state }: NonNullable<PreparedStatus["quote"]>, quotedStates: QuotedStates) =>
  state === "accepted"
    ? quotedStates.get(key?.id ?? 0n) ?? { availability: "deleted" as const, state: undefined }
    : { availability: state, state: undefined }

/** Assembles a quoted status, which shows less than on its own and is not cached. */
const assembleUncached: StatusParts["assemble"] = (_, parts) => assembleStatus(parts)

/** Returns the parts from which a viewer's statuses are composed; `filter` applies to quoted statuses, too. */
export const partsOf = (
  viewer: Viewer,
  { bodies, collections, quotedStates }: QuotedPage,
  accounts: StatusParts["accounts"],
  filter: StatusFilter | undefined,
  assemble: StatusParts["assemble"] = assembleUncached
): StatusParts => {
  if (hasNoQuotes(bodies)) return { viewer, bodies, accounts, collections, assemble, quote: () => none }
  const quote = shallowQuote(bodies, quotedStates)
  const inner: StatusParts = { viewer, bodies, accounts, collections, assemble: assembleUncached, quote }
  return {
    ...inner,
    assemble,
    quote: (key) => {
      const quote = bodies.get(key.id)?.quote
      if (quote === undefined) return none
      const { availability, state } = availabilityOf(quote, quotedStates)
      const shown = quote.key && bodies.get(quote.key.id)?.key
      if (state === undefined || shown === undefined) return assembleQuote(availability, none)
      const { filtered } = filter?.(shown, bodies) ?? unfiltered
      return assembleQuote(availability, compose(inner, shown, state, filtered) ?? none)
    }
  }
}

/** Returns the contexts in which filters hide a status, for its own text or a visible quote's. */
export const hiddenIn = (
  key: StatusKey,
  page: QuotedPage,
  filter: StatusFilter | undefined
): ReadonlyArray<FilterContext> => {
  if (filter === undefined) return unfiltered.hiddenIn
  const own = filter(key, page.bodies).hiddenIn
  const quoted = shownQuotes([key], page).flatMap((shown) => filter(shown, page.bodies).hiddenIn)
  return quoted.length === 0 ? own : [...own, ...quoted]
}
