import { Context, Effect, Layer } from "effect"
import { Changes } from "../../services/caching/Changes.ts"
import type { AccountId } from "../../services/database/Ids.ts"
import { ActiveFilters } from "../../services/filters/ActiveFilters.ts"
import type { FilterContext } from "../../services/filters/Filter.ts"
import { RecordNotFound } from "../../services/runtime/Errors.ts"
import { traced } from "../../services/runtime/Traced.ts"
import { Statuses } from "../../services/statuses/Statuses.ts"
import { type Hiding, newState } from "../../services/statuses/ViewerState.ts"
import { ViewerStates } from "../../services/statuses/ViewerStates.ts"
import { isPublicOrUnlisted } from "../../services/statuses/Visibility.ts"
import type { Viewer } from "../../services/visibility/Viewer.ts"
import { type JsonList, type JsonOf, withBytes } from "../wire/Keys.ts"
import type { DeletedStatus, Status } from "../wire/Status.ts"
import { forRedraft, withoutText } from "../wire/StatusJson.ts"
import { AccountViews } from "./AccountViews.ts"
import * as AddressedStatuses from "./AddressedStatuses.ts"
import type { AddressedStatus } from "./AddressedStatuses.ts"
import { CollectionViews } from "./CollectionViews.ts"
import * as ComposedStatuses from "./ComposedStatuses.ts"
import * as PreparedStatuses from "./PreparedStatuses.ts"
import * as QuotedStatuses from "./QuotedStatuses.ts"
import * as ShownStatuses from "./ShownStatuses.ts"
import { compose, missingKey, type PreparedStatus } from "./StatusBodies.ts"
import * as StatusFilters from "./StatusFilters.ts"
import * as ViewerStateCache from "./ViewerStateCache.ts"

/** Removes the text of a status that the viewer may no longer read. */
const blank = ([id, status]: readonly [bigint, PreparedStatus]) =>
  [id, {
    ...status,
    body: withoutText(status.body),
    poll: undefined,
    card: undefined,
    quote: undefined,
    collections: []
  }] as const

/**
 * Statuses as serialised JSON. A fully cached page takes NO query; others take at most five: visibility, counters and
 * marks (see `ViewerStates`); missing bodies; missing originals of cached reblogs; their accounts; and the server's
 * emoji. Bodies, originals and accounts take one more each if remote texts contain emoji, and the viewer's filters one.
 * A page with quotes takes one more for the viewer's relation to them and one for their bodies; a page with linked
 * collections takes two more.
 */
export class StatusViews extends Context.Service<StatusViews, {
  /**
   * Renders statuses in the order of `ids`. Leaves out statuses that the viewer may not see and, with `hiding`
   * "authors" (the default is "nothing"), those of authors that the viewer blocks or mutes. For "permitted" see
   * `Hiding`. With a `context`, statuses that the viewer's filters hide there are left out as well (S-062).
   */
  readonly render: (
    viewer: Viewer,
    ids: ReadonlyArray<bigint>,
    hiding?: Hiding,
    context?: FilterContext
  ) => Effect.Effect<JsonList<Status>>
  /** Renders statuses by id. */
  readonly byId: (
    viewer: Viewer,
    ids: ReadonlyArray<bigint>,
    hiding?: Hiding,
    context?: FilterContext
  ) => Effect.Effect<ReadonlyMap<bigint, JsonOf<Status>>>
  /** Returns true if the viewer's filters may hide statuses, so that a page has to be filled up (S-128). */
  readonly hides: (viewer: Viewer) => Effect.Effect<boolean>
  /** Returns the `ids` that the viewer's filters do not hide in a context. */
  readonly unhidden: (
    viewer: Viewer,
    ids: ReadonlyArray<bigint>,
    context: FilterContext
  ) => Effect.Effect<ReadonlyArray<bigint>>
  /**
   * Like `render`, for ids that a client names. Missing and forbidden ids take the same queries, so that timing does
   * not tell them apart (security row 57).
   */
  readonly renderNamed: (
    viewer: Viewer,
    ids: ReadonlyArray<bigint>,
    hiding?: Hiding
  ) => Effect.Effect<ReadonlyArray<JsonOf<Status>>>
  readonly renderOne: (viewer: Viewer, id: bigint) => Effect.Effect<JsonOf<Status>, RecordNotFound>
  /** Like `renderOne`, for a thread's first post that the viewer has just written: its state is known. */
  readonly renderNew: (author: AccountId, id: bigint) => Effect.Effect<JsonOf<Status>, RecordNotFound>
  /**
   * Renders one status for many viewers; a viewer who may not see it or hides its author is absent. Takes as many
   * queries as a page, and one string for all viewers who see the same.
   */
  readonly renderFor: (
    id: bigint,
    viewers: ReadonlyArray<AccountId>
  ) => Effect.Effect<ReadonlyMap<AccountId, AddressedStatus>>
  /**
   * Renders a status from which the viewer has just removed a mark, even if its author blocks the viewer (S-127). A
   * status that the viewer may no longer read has no text.
   */
  readonly renderUndone: (viewer: AccountId, id: bigint) => Effect.Effect<JsonOf<Status>, RecordNotFound>
  /**
   * Renders the response to deleting an own status, before it is deleted: with its source text in place of the HTML
   * (S-060).
   */
  readonly renderForRedraft: (owner: AccountId, id: bigint) => Effect.Effect<JsonOf<DeletedStatus>, RecordNotFound>
}>()("murmuration/http/render/StatusViews") {
  static readonly layerNoDeps = Layer.effect(
    StatusViews,
    Effect.gen(function*() {
      const statuses = yield* Statuses
      const viewerStates = yield* ViewerStates
      const accounts = yield* AccountViews
      const { bodies, load } = yield* PreparedStatuses.make
      const cachedStates = yield* ViewerStateCache.make(viewerStates)
      const filters = StatusFilters.make(yield* ActiveFilters)
      const composed = ComposedStatuses.make()
      const quotes = QuotedStatuses.make(bodies, viewerStates, yield* CollectionViews)
      const { authors, filterOf, show } = ShownStatuses.make({ accounts, cachedStates, filters, quotes })

      const byId = traced("StatusViews.byId")(function*(
        viewer: Viewer,
        ids: ReadonlyArray<bigint>,
        hiding: Hiding = "nothing",
        context?: FilterContext
      ) {
        return yield* show(viewer, ids, hiding, yield* bodies(ids), { context })
      })

      const hides = (viewer: Viewer) =>
        viewer === undefined ? Effect.succeed(false) : Effect.suspend(() => filters.hides(viewer))
      const unhidden = traced("StatusViews.unhidden")(function*(
        viewer: Viewer,
        ids: ReadonlyArray<bigint>,
        context: FilterContext
      ) {
        const filter = (yield* hides(viewer)) ? yield* filterOf(viewer) : undefined
        if (filter === undefined) return ids
        const found = yield* bodies(ids)
        const keys = ids.flatMap((id) => found.get(id)?.key ?? [])
        const page = yield* quotes.of(viewer, keys, found)
        yield* StatusFilters.compared(filter, [...keys, ...QuotedStatuses.shownQuotes(keys, page)], page.bodies)
        return ids.filter((id) => {
          const key = found.get(id)?.key
          return key === undefined || !QuotedStatuses.hiddenIn(key, page, filter).includes(context)
        })
      })

      const renderNamed = traced("StatusViews.renderNamed")(function*(
        viewer: Viewer,
        ids: ReadonlyArray<bigint>,
        hiding: Hiding = "nothing"
      ) {
        const asked = new Set<bigint>()
        const found = yield* bodies(ids, (missing) => {
          for (const id of missing) asked.add(id)
          return load(missing)
        })
        const texts = yield* show(viewer, ids, hiding, found)
        const refused = ids.filter((id) => !texts.has(id))
        const known = refused.filter((id) => !asked.has(id))
        if (known.length > 0) yield* statuses.load(known)
        const unknown = refused.filter((id) => !found.has(id))
        if (unknown.length > 0) yield* viewerStates.of(viewer, unknown.map(missingKey), hiding)
        return ids.flatMap((id) => texts.get(id) ?? [])
      })

      const render = traced("StatusViews.render")(function*(
        viewer: Viewer,
        ids: ReadonlyArray<bigint>,
        hiding: Hiding = "nothing",
        context?: FilterContext
      ) {
        const texts = yield* show(viewer, ids, hiding, yield* bodies(ids), {
          context,
          assemble: composed.compose
        })
        const shown = ids.filter((id) => texts.has(id))
        const items = shown.flatMap((id) => texts.get(id) ?? [])
        return withBytes(items, () => items.map((text, at) => composed.bytesOf(shown[at] ?? 0n, text)))
      })

      const renderOne = traced("StatusViews.renderOne")(function*(viewer: Viewer, id: bigint) {
        const [text] = yield* renderNamed(viewer, [id])
        return text ?? (yield* new RecordNotFound())
      })

      const renderNew = traced("StatusViews.renderNew")(function*(author: AccountId, id: bigint) {
        const found = yield* bodies([id])
        const key = found.get(id)?.key
        const state = key && newState(key)
        if (state === undefined) return yield* renderOne(author, id)
        const texts = yield* show(author, [id], "nothing", found, { known: new Map([[id, state]]) })
        return texts.get(id) ?? (yield* new RecordNotFound())
      })

      const renderUndone = traced("StatusViews.renderUndone")(function*(viewer: AccountId, id: bigint) {
        const found = yield* bodies([id])
        const key = found.get(id)?.key
        if (key === undefined) return yield* new RecordNotFound()
        const { state, visible } = yield* viewerStates.ofMarked(viewer, key)
        const open = visible || isPublicOrUnlisted((key.original ?? key).visibility)
        const page = yield* quotes.of(viewer, [key], open ? found : new Map(Array.from(found, blank)))
        const names = yield* authors([key], page)
        const filter = open ? yield* filterOf(viewer) : undefined
        const { filtered } = filter?.(key, page.bodies) ?? StatusFilters.unfiltered
        const parts = QuotedStatuses.partsOf(viewer, page, names, filter)
        return compose(parts, key, state, filtered) ?? (yield* new RecordNotFound())
      })

      const renderForRedraft = traced("StatusViews.renderForRedraft")(function*(owner: AccountId, id: bigint) {
        const source = yield* statuses.source(owner, id)
        const shown = yield* renderOne(owner, id)
        const body = (yield* bodies([id])).get(id)
        const original = body?.key.original
        const repeated = original === undefined ? "" : (yield* statuses.source(owner, original.id)).text
        const quoted = body?.quote?.key?.id
        const quotedStatus = quoted === undefined ? undefined : (yield* byId(owner, [quoted])).get(quoted)
        return forRedraft(shown, source, repeated, quotedStatus)
      })

      const renderFor = AddressedStatuses.make({ accounts, bodies, filters, quotes, viewerStates })
      return StatusViews.of({
        byId,
        hides,
        unhidden,
        render,
        renderNamed,
        renderOne,
        renderNew,
        renderFor,
        renderUndone,
        renderForRedraft
      })
    })
  ).pipe(Layer.provide(Changes.layer))
  static readonly layer = StatusViews.layerNoDeps.pipe(Layer.provide([AccountViews.layer, CollectionViews.layer]))
}
