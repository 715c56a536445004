import { Clock, Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { AccountId } from "../Ids.ts"
import { traced } from "../Traced.ts"
import type { Viewer } from "../Viewer.ts"
import * as RecipientQuery from "./RecipientQuery.ts"
import type { Hiding, StatusKey, ViewerState } from "./ViewerState.ts"
import * as ViewerStateQuery from "./ViewerStateQuery.ts"
import { canSee } from "./Visibility.ts"

/**
 * Permission and viewer's flags of a page of statuses in ONE query, whatever the page's length. The query asks for what
 * can change (deleted, suspended, relations, counters, the viewer's own marks); `canSee` decides.
 */
export class ViewerStates extends Context.Service<ViewerStates, {
  /** By the statuses' ids; one that `viewer` may not see, or hides, is absent. */
  readonly of: (
    viewer: Viewer,
    statuses: ReadonlyArray<StatusKey>,
    hiding: Hiding
  ) => Effect.Effect<ReadonlyMap<bigint, ViewerState>>
  /** A status that bears a mark of the viewer, with the decision whether it may (still) be read. */
  readonly ofMarked: (
    viewer: AccountId,
    status: StatusKey
  ) => Effect.Effect<{ readonly visible: boolean; readonly state: ViewerState }>
  /**
   * One status for many viewers, by their ids; one who may not see it, or hides its author, is absent. One query, too.
   */
  readonly forViewers: (
    viewers: ReadonlyArray<AccountId>,
    status: StatusKey
  ) => Effect.Effect<ReadonlyMap<AccountId, ViewerState>>
}>()("murmuration/services/statuses/ViewerStates") {
  static readonly layer = Layer.effect(
    ViewerStates,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      // Made once for each of the few variants, so that their text is hashed and prepared once.
      const texts = new Map<number, string>()

      const ask = Effect.fnUntraced(function*(viewer: Viewer, statuses: ReadonlyArray<StatusKey>, hiding: Hiding) {
        const asked = ViewerStateQuery.questions(viewer, statuses, hiding)
        let text = texts.get(asked.variant)
        if (text === undefined) texts.set(asked.variant, text = ViewerStateQuery.textOf(asked.variant))
        const now = new Date(yield* Clock.currentTimeMillis)
        const [row] = yield* sql.unsafe<ViewerStateQuery.Row>(
          text,
          viewer === undefined
            ? [asked.statuses, asked.authors]
            : [asked.statuses, asked.authors, viewer, asked.conversations, now]
        ).withoutTransform
        const answers = ViewerStateQuery.answersOf(row)
        const visible = (status: StatusKey) =>
          canSee(viewer, ViewerStateQuery.factsOf(status, answers), answers.relations)
        return { ...answers, visible }
      })

      const of = traced("ViewerStates.of")(function*(
        viewer: Viewer,
        statuses: ReadonlyArray<StatusKey>,
        hiding: Hiding
      ) {
        const states = new Map<bigint, ViewerState>()
        if (statuses.length === 0) return states
        const answers = yield* ask(viewer, statuses, hiding)
        for (const status of statuses) {
          if (hiding !== "permitted" && !answers.visible(status)) continue
          const shown = status.original ?? status
          if (answers.hidden.has(status.accountId) || answers.hidden.has(shown.accountId)) continue
          states.set(status.id, answers.state(shown))
        }
        return states
      }, Effect.orDie)

      const ofMarked = traced("ViewerStates.ofMarked")(function*(viewer: AccountId, status: StatusKey) {
        const answers = yield* ask(viewer, [status], "nothing")
        return { visible: answers.visible(status), state: answers.state(status.original ?? status) }
      }, Effect.orDie)

      const forViewers = traced("ViewerStates.forViewers")(function*(
        viewers: ReadonlyArray<AccountId>,
        status: StatusKey
      ) {
        const states = new Map<AccountId, ViewerState>()
        if (viewers.length === 0) return states
        const now = new Date(yield* Clock.currentTimeMillis)
        const [row] = yield* sql.unsafe<RecipientQuery.Row>(
          RecipientQuery.text,
          RecipientQuery.parameters(viewers, status, now)
        ).withoutTransform
        if (row === undefined) return states
        const answers = RecipientQuery.answersOf(row, status)
        for (const viewer of viewers) {
          if (canSee(viewer, answers.facts, answers.relations(viewer)) && !answers.hiding.has(viewer)) {
            states.set(viewer, answers.state(viewer))
          }
        }
        return states
      }, Effect.orDie)
      return ViewerStates.of({ of, ofMarked, forViewers })
    })
  )
}
