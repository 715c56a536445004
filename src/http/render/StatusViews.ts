import { Context, Effect, Layer } from "effect"
import { Changes } from "../../services/caching/Changes.ts"
import { RecordNotFound } from "../../services/Errors.ts"
import { ActiveFilters } from "../../services/filters/ActiveFilters.ts"
import type { FilterContext } from "../../services/filters/Filter.ts"
import type { AccountId } from "../../services/Ids.ts"
import { Statuses } from "../../services/statuses/Statuses.ts"
import type { Hiding } from "../../services/statuses/ViewerState.ts"
import { ViewerStates } from "../../services/statuses/ViewerStates.ts"
import { isOpen } from "../../services/statuses/Visibility.ts"
import { traced } from "../../services/Traced.ts"
import type { Viewer } from "../../services/Viewer.ts"
import type { Ready } from "../wire/Keys.ts"
import type { DeletedStatus, Status } from "../wire/Status.ts"
import { forRedraft, withoutText } from "../wire/StatusJson.ts"
import { AccountViews } from "./AccountViews.ts"
import * as ReadyStatuses from "./ReadyStatuses.ts"
import { authorsOf, compose, nobodys, type ReadyStatus } from "./StatusBodies.ts"
import * as StatusFilters from "./StatusFilters.ts"
import * as ViewerStateCache from "./ViewerStateCache.ts"

/** A status as somebody is about to get it. */
interface AddressedStatus {
  readonly text: Ready<Status>
  /** Where the one's filters leave it out. */
  readonly hiddenIn: ReadonlyArray<FilterContext>
}

/**
 * Statuses as clients see them, as ready JSON. A page of any length takes NO query where all parts are cached, and at most
 * five: who may see what, counters and marks (see `ViewerStates`), the bodies that are not cached, the originals of cached
 * reblogs that are not, their accounts, and this server's emoji; one more for each of bodies, originals and accounts where
 * texts of other servers name emoji, and one for the viewer's filters.
 */
export class StatusViews extends Context.Service<StatusViews, {
  /**
   * In the order of `ids`. Left out are statuses that the viewer may not see and, with `hiding` "authors" (the default is
   * "nothing"), those of authors that it blocks or mutes. For "permitted" see `Hiding`. In a `context` those are left out, too,
   * that the viewer's filters hide there (S-062).
   */
  readonly render: (
    viewer: Viewer,
    ids: ReadonlyArray<bigint>,
    hiding?: Hiding,
    context?: FilterContext
  ) => Effect.Effect<ReadonlyArray<Ready<Status>>>
  /** The same by id. */
  readonly byId: (
    viewer: Viewer,
    ids: ReadonlyArray<bigint>,
    hiding?: Hiding,
    context?: FilterContext
  ) => Effect.Effect<ReadonlyMap<bigint, Ready<Status>>>
  /** Whether the viewer's filters may leave anything out, so that a page has to be filled up (S-128). */
  readonly hides: (viewer: Viewer) => Effect.Effect<boolean>
  /** Those of `ids` that the viewer's filters leave in a context. */
  readonly unhidden: (
    viewer: Viewer,
    ids: ReadonlyArray<bigint>,
    context: FilterContext
  ) => Effect.Effect<ReadonlyArray<bigint>>
  /**
   * The same for ids that a client names. Which of them do not exist and which must not be seen takes the same queries, so
   * that no clock tells it (security row 57).
   */
  readonly renderNamed: (
    viewer: Viewer,
    ids: ReadonlyArray<bigint>,
    hiding?: Hiding
  ) => Effect.Effect<ReadonlyArray<Ready<Status>>>
  readonly renderOne: (viewer: Viewer, id: bigint) => Effect.Effect<Ready<Status>, RecordNotFound>
  /**
   * One status for everybody about to get it; who may not see it or hides its author is absent. As many queries as a page,
   * and one string for all who see the same.
   */
  readonly renderFor: (
    id: bigint,
    viewers: ReadonlyArray<AccountId>
  ) => Effect.Effect<ReadonlyMap<AccountId, AddressedStatus>>
  /**
   * The status on which somebody has just undone a mark of its own, which works although its author blocks it by now
   * (S-127). What the viewer may not read any more comes without its text.
   */
  readonly renderUndone: (viewer: AccountId, id: bigint) => Effect.Effect<Ready<Status>, RecordNotFound>
  /** The answer to deleting an own status, made before it is deleted: its text as written in place of the HTML (S-060). */
  readonly renderForRedraft: (owner: AccountId, id: bigint) => Effect.Effect<Ready<DeletedStatus>, RecordNotFound>
}>()("murmuration/http/render/StatusViews") {
  static readonly layerNoDeps = Layer.effect(
    StatusViews,
    Effect.gen(function*() {
      const statuses = yield* Statuses
      const viewerStates = yield* ViewerStates
      const accounts = yield* AccountViews
      const { bodies, load } = yield* ReadyStatuses.make
      const kept = yield* ViewerStateCache.make(viewerStates)
      const filters = StatusFilters.make(yield* ActiveFilters)
      const filterOf = (viewer: Viewer) => viewer === undefined ? Effect.undefined : filters.find(viewer)

      /** Those of `ids` that the viewer is shown, of the bodies that were found. */
      const show = Effect.fnUntraced(function*(
        viewer: Viewer,
        ids: ReadonlyArray<bigint>,
        hiding: Hiding,
        found: ReadonlyMap<bigint, ReadyStatus>,
        context?: FilterContext
      ) {
        const keys = ids.flatMap((id) => found.get(id)?.key ?? [])
        const shown = yield* kept.of(viewer, keys, hiding)
        const names = yield* accounts.byId(authorsOf(keys.filter(({ id }) => shown.has(id)), found))
        const filter = shown.size === 0 ? undefined : yield* filterOf(viewer)
        const texts = new Map<bigint, Ready<Status>>()
        for (const key of keys) {
          const state = shown.get(key.id)
          if (state === undefined) continue
          const { filtered, hiddenIn } = filter?.(key, found) ?? StatusFilters.unfiltered
          if (context !== undefined && hiddenIn.includes(context)) continue
          const text = compose(viewer, key, state, found, names, filtered)
          if (text !== undefined) texts.set(key.id, text)
        }
        return texts
      })

      const byId = traced("StatusViews.byId")(function*(
        viewer: Viewer,
        ids: ReadonlyArray<bigint>,
        hiding: Hiding = "nothing",
        context?: FilterContext
      ) {
        return yield* show(viewer, ids, hiding, yield* bodies(ids), context)
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
        return ids.filter((id) => {
          const status = found.get(id)
          return status === undefined || !filter(status.key, found).hiddenIn.includes(context)
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
        if (unknown.length > 0) yield* viewerStates.of(viewer, unknown.map(nobodys), hiding)
        return ids.flatMap((id) => texts.get(id) ?? [])
      })

      const render = traced("StatusViews.render")(function*(
        viewer: Viewer,
        ids: ReadonlyArray<bigint>,
        hiding: Hiding = "nothing",
        context?: FilterContext
      ) {
        const texts = yield* byId(viewer, ids, hiding, context)
        return ids.flatMap((id) => texts.get(id) ?? [])
      })

      const renderOne = traced("StatusViews.renderOne")(function*(viewer: Viewer, id: bigint) {
        const [text] = yield* renderNamed(viewer, [id])
        return text ?? (yield* new RecordNotFound())
      })

      const renderUndone = traced("StatusViews.renderUndone")(function*(viewer: AccountId, id: bigint) {
        const found = yield* bodies([id])
        const key = found.get(id)?.key
        if (key === undefined) return yield* new RecordNotFound()
        const { state, visible } = yield* viewerStates.ofMarked(viewer, key)
        const names = yield* accounts.byId(authorsOf([key], found))
        const open = visible || isOpen((key.original ?? key).visibility)
        const shown = open
          ? found
          : new Map(
            Array.from(
              found,
              ([id, status]) => [id, { ...status, body: withoutText(status.body), poll: undefined, card: undefined }]
            )
          )
        const filter = open ? yield* filterOf(viewer) : undefined
        const { filtered } = filter?.(key, found) ?? StatusFilters.unfiltered
        return compose(viewer, key, state, shown, names, filtered) ?? (yield* new RecordNotFound())
      })

      const renderForRedraft = traced("StatusViews.renderForRedraft")(function*(owner: AccountId, id: bigint) {
        const { text } = yield* statuses.source(owner, id)
        const shown = yield* renderOne(owner, id)
        const original = (yield* bodies([id])).get(id)?.key.original
        const repeated = original === undefined ? "" : (yield* statuses.source(owner, original.id)).text
        return forRedraft(shown, text, repeated)
      })

      const renderFor = traced("StatusViews.renderFor")(function*(id: bigint, viewers: ReadonlyArray<AccountId>) {
        const texts = new Map<AccountId, AddressedStatus>()
        const found = yield* bodies([id])
        const key = found.get(id)?.key
        if (key === undefined) return texts
        const shown = yield* viewerStates.forViewers(viewers, key)
        const names = yield* accounts.byId(authorsOf([key], found))
        const filtering = yield* filters.of([...shown.keys()])
        const alike = new Map<string, Ready<Status> | undefined>()
        const creator = found.get((key.original ?? key).id)?.card?.creatorId
        for (const [viewer, state] of shown) {
          const { bookmarked, favourited, muted, pinned, reblogged, votes } = state
          const own = viewer === key.accountId || viewer === key.original?.accountId || viewer === creator
          const { filtered, hiddenIn } = filtering.get(viewer)?.(key, found) ?? StatusFilters.unfiltered
          const view = own
            ? String(viewer)
            : `${bookmarked},${favourited},${muted},${pinned},${reblogged},${votes.join()}${filtered}`
          if (!alike.has(view)) alike.set(view, compose(viewer, key, state, found, names, filtered))
          const text = alike.get(view)
          if (text !== undefined) texts.set(viewer, { text, hiddenIn })
        }
        return texts
      })

      return StatusViews.of({
        byId,
        hides,
        unhidden,
        render,
        renderNamed,
        renderOne,
        renderFor,
        renderUndone,
        renderForRedraft
      })
    })
  ).pipe(Layer.provide(Changes.layer))
  static readonly layer = StatusViews.layerNoDeps.pipe(Layer.provide(AccountViews.layer))
}
