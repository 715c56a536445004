import { Clock, Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { AccountId } from "../database/Ids.ts"
import { traced } from "../runtime/Traced.ts"
import type { Viewer } from "../visibility/Viewer.ts"
import { PolicyVerdicts } from "./PolicyVerdicts.ts"
import * as RecipientQuery from "./RecipientQuery.ts"
import { StatusReactions } from "./StatusReactions.ts"
import { availabilityOf, type Hiding, type QuotedState, type StatusKey, type ViewerState } from "./ViewerState.ts"
import * as ViewerStateQuery from "./ViewerStateQuery.ts"
import { canSee } from "./Visibility.ts"

/**
 * Permissions and viewer state of a page of statuses by one query, whatever its length; one more each for reactions and
 * for policy verdicts, if needed. The query reads what can change (deletions, suspensions, relations, counters, the
 * viewer's marks); `canSee` decides.
 *
 * @fastPath viewer-state-query
 */
export class ViewerStates extends Context.Service<ViewerStates, {
  /** Returns states by status id; statuses that `viewer` may not see, or hides, are absent. */
  readonly of: (
    viewer: Viewer,
    statuses: ReadonlyArray<StatusKey>,
    hiding: Hiding
  ) => Effect.Effect<ReadonlyMap<bigint, ViewerState>>
  /** Returns the state of a status that the viewer has marked, and if it is (still) visible. */
  readonly ofMarked: (
    viewer: AccountId,
    status: StatusKey
  ) => Effect.Effect<{ readonly visible: boolean; readonly state: ViewerState }>
  /**
   * Returns the state of one status for many viewers; those who may not see it, or hide its author, are absent. One
   * query, too.
   */
  readonly forViewers: (
    viewers: ReadonlyArray<AccountId>,
    status: StatusKey
  ) => Effect.Effect<ReadonlyMap<AccountId, ViewerState>>
  /** Returns the states of quoted statuses by id; one query. */
  readonly ofQuoted: (
    viewer: Viewer,
    statuses: ReadonlyArray<StatusKey>
  ) => Effect.Effect<ReadonlyMap<bigint, QuotedState>>
  /** Returns the state of one quoted status for many viewers; one query. */
  readonly quotedForViewers: (
    viewers: ReadonlyArray<AccountId>,
    status: StatusKey
  ) => Effect.Effect<ReadonlyMap<AccountId, QuotedState>>
}>()("murmuration/services/statuses/ViewerStates") {
  static readonly layer = Layer.effect(
    ViewerStates,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const reactions = yield* StatusReactions
      const verdicts = yield* PolicyVerdicts
      // Query texts are cached by variant, so that each is hashed and prepared once.
      const texts = new Map<number, string>()

      /**
       * Returns policy verdicts for viewers of statuses, or of boosts' originals; undefined if no policy restricts
       * anything.
       */
      const verdictsFor = Effect.fnUntraced(function*(
        viewers: ReadonlyArray<bigint>,
        statuses: ReadonlyArray<StatusKey>
      ) {
        const asking = statuses.flatMap((status) => {
          const target = status.original ?? status
          const { control } = target
          return control === undefined
            ? []
            : viewers.map((account) => ({ account, target: { ...target, interactionPolicy: control } }))
        })
        if (asking.length === 0) return undefined
        const decided = yield* verdicts.ofReaders(asking)
        return (viewer: bigint, { id }: StatusKey) => {
          const may = decided.get(`${viewer} ${id}`)
          return may && { may }
        }
      })

      const ask = Effect.fnUntraced(function*(
        viewer: Viewer,
        statuses: ReadonlyArray<StatusKey>,
        hiding: Hiding | "quoted"
      ) {
        const asked = ViewerStateQuery.parametersOf(viewer, statuses, hiding)
        let text = texts.get(asked.variant)
        if (text === undefined) texts.set(asked.variant, text = ViewerStateQuery.textOf(asked.variant))
        const now = new Date(yield* Clock.currentTimeMillis)
        const [row] = yield* sql.unsafe<ViewerStateQuery.Row>(
          text,
          viewer === undefined
            ? [asked.statuses, asked.authors]
            : [asked.statuses, asked.authors, viewer, asked.conversations, now]
        ).withoutTransform
        const loaded = ViewerStateQuery.decodeRow(viewer, row)
        const visible = (status: StatusKey) =>
          canSee(viewer, ViewerStateQuery.factsOf(status, loaded), loaded.relations)
        const may = viewer === undefined ? undefined : yield* verdictsFor([viewer], statuses)
        if (loaded.reacted.length === 0 && may === undefined) return { ...loaded, visible }
        const found = yield* reactions.of(viewer, loaded.reacted)
        const state = (status: StatusKey): ViewerState => ({
          ...loaded.state(status),
          ...(viewer !== undefined && may?.(viewer, status)),
          reactions: found.get(status.id) ?? ViewerStateQuery.noReactions
        })
        return { ...loaded, visible, state }
      })

      const askFor = Effect.fnUntraced(function*(viewers: ReadonlyArray<AccountId>, status: StatusKey) {
        if (viewers.length === 0) return undefined
        const now = new Date(yield* Clock.currentTimeMillis)
        const [row] = yield* sql.unsafe<RecipientQuery.Row>(
          RecipientQuery.textOf(status),
          RecipientQuery.parameters(viewers, status, now)
        ).withoutTransform
        if (row === undefined) return undefined
        const loaded = RecipientQuery.decodeRow(row, status)
        const visible = (viewer: AccountId) => canSee(viewer, loaded.facts, loaded.relations(viewer))
        const may = yield* verdictsFor(viewers, [status])
        if (!loaded.hasReactions && may === undefined) return { ...loaded, visible }
        const shown = status.original ?? status
        const found = loaded.hasReactions ? yield* reactions.forViewers(viewers, shown.id) : undefined
        const state = (viewer: bigint): ViewerState => ({
          ...loaded.state(viewer),
          ...may?.(viewer, shown),
          reactions: found?.(viewer) ?? ViewerStateQuery.noReactions
        })
        return { ...loaded, visible, state }
      })

      const of = traced("ViewerStates.of")(function*(
        viewer: Viewer,
        statuses: ReadonlyArray<StatusKey>,
        hiding: Hiding
      ) {
        const states = new Map<bigint, ViewerState>()
        if (statuses.length === 0) return states
        const loaded = yield* ask(viewer, statuses, hiding)
        for (const status of statuses) {
          if (hiding !== "permitted" && !loaded.visible(status)) continue
          const shown = status.original ?? status
          if (loaded.hidden.has(status.accountId) || loaded.hidden.has(shown.accountId)) continue
          states.set(status.id, loaded.state(shown))
        }
        return states
      }, Effect.orDie)

      const ofMarked = traced("ViewerStates.ofMarked")(function*(viewer: AccountId, status: StatusKey) {
        const loaded = yield* ask(viewer, [status], "nothing")
        return { visible: loaded.visible(status), state: loaded.state(status.original ?? status) }
      }, Effect.orDie)

      const forViewers = traced("ViewerStates.forViewers")(function*(
        viewers: ReadonlyArray<AccountId>,
        status: StatusKey
      ) {
        const states = new Map<AccountId, ViewerState>()
        const loaded = yield* askFor(viewers, status)
        if (loaded === undefined) return states
        for (const viewer of viewers) {
          if (loaded.visible(viewer) && !loaded.hides(viewer)) states.set(viewer, loaded.state(viewer))
        }
        return states
      }, Effect.orDie)

      const ofQuoted = traced("ViewerStates.ofQuoted")(function*(viewer: Viewer, statuses: ReadonlyArray<StatusKey>) {
        if (statuses.length === 0) return new Map<bigint, QuotedState>()
        const { hiddenBy, standingIds, state, visible } = yield* ask(viewer, statuses, "quoted")
        return new Map(statuses.map((status): [bigint, QuotedState] => {
          if (!standingIds.has(status.id)) return [status.id, { availability: "deleted", state: undefined }]
          return [
            status.id,
            visible(status)
              ? { availability: availabilityOf(status.accountId, hiddenBy), state: state(status) }
              : { availability: "unauthorized", state: undefined }
          ]
        }))
      }, Effect.orDie)

      const quotedForViewers = traced("ViewerStates.quotedForViewers")(function*(
        viewers: ReadonlyArray<AccountId>,
        status: StatusKey
      ) {
        const states = new Map<AccountId, QuotedState>()
        const loaded = yield* askFor(viewers, status)
        if (loaded === undefined) return states
        for (const viewer of viewers) {
          const availability = loaded.facts.deleted
            ? "deleted"
            : loaded.visible(viewer)
            ? availabilityOf(viewer, loaded.hiding)
            : "unauthorized"
          const readable = availability !== "deleted" && availability !== "unauthorized"
          states.set(viewer, { availability, state: readable ? loaded.state(viewer) : undefined })
        }
        return states
      }, Effect.orDie)
      return ViewerStates.of({ of, ofMarked, forViewers, ofQuoted, quotedForViewers })
    })
  ).pipe(Layer.provide([PolicyVerdicts.layer, StatusReactions.layer]))
}
