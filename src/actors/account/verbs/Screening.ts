import { Effect } from "effect"
import { NotificationWriter } from "../../../services/feeds/NotificationWriter.ts"
import { AccountActions } from "../../../services/moderation/AccountActions.ts"
import { ServerReports } from "../../../services/moderation/ServerReports.ts"
import type { Verdict } from "../../../services/spam/SpamMatching.ts"
import { type ScreenedBoost, type ScreenedPost, SpamScreening } from "../../../services/spam/SpamScreening.ts"
import { ReviewedStatuses } from "../../../services/statuses/ReviewedStatuses.ts"
import * as IntentWriter from "../core/IntentWriter.ts"
import type { Ownership } from "../core/Ownership.ts"

/** Returns the names of the rules that took action, for the moderators. */
const named = ({ hits }: Verdict) =>
  hits.flatMap(({ action, name, state }) => state === "on" && action !== "pass" ? [name] : []).join(", ")

/**
 * Applies spam rules inside the transaction of a command: held posts, reports, limited accounts. Built once per node.
 */
export const make = Effect.gen(function*() {
  const accountActions = yield* AccountActions
  const intend = yield* IntentWriter.make
  const notificationWriter = yield* NotificationWriter
  const reports = yield* ServerReports
  const reviewed = yield* ReviewedStatuses
  const screening = yield* SpamScreening

  /** Limits the account, unless it is limited already, with a strike that it may appeal. */
  const limit = Effect.fnUntraced(function*({ accountId }: Ownership, statusId: bigint | undefined) {
    const strike = yield* accountActions.limitForSpam(accountId, statusId)
    if (strike === undefined) return
    yield* notificationWriter.notifyOwners("moderation_warning", [{ id: strike, accountId }])
  })

  /**
   * Carries out a verdict: records it, limits the account, files a report and holds the post; `statusId` is undefined
   * if the post is not stored. A post that `waits` for approval cannot also wait for a moderator, so it is reported
   * instead.
   */
  const settle = Effect.fnUntraced(
    function*(own: Ownership, verdict: Verdict, statusId: bigint | undefined, waits = false) {
      if (verdict.hits.length === 0) return
      yield* screening.record(own.accountId, verdict, statusId)
      const last = verdict.hits.at(-1)
      const holds = verdict.end === "hold" && statusId !== undefined && last !== undefined
      if (verdict.limits) yield* limit(own, statusId)
      if (verdict.reports || (holds && waits)) {
        const id = yield* reports.file(own.accountId, named(verdict), statusId)
        if (id !== undefined) yield* intend(own, { _tag: "report", report: id })
      }
      if (holds && !waits) yield* reviewed.hold(statusId, last.id)
    }
  )

  /** Judges an edit, which can be refused but not held. Returns true if it is allowed. */
  const edits = Effect.fnUntraced(function*(own: Ownership, statusId: bigint, post: ScreenedPost) {
    const verdict = yield* screening.judge(own.accountId, post)
    const refused = verdict.end !== undefined
    yield* settle(own, { ...verdict, end: undefined }, refused ? undefined : statusId)
    return !refused
  })

  /**
   * Judges a boost, which can be refused but not held. Returns the refusing rule's id, and whether the account is
   * limited.
   */
  const boosts = Effect.fnUntraced(function*(own: Ownership, boost: ScreenedBoost) {
    const verdict = yield* screening.judgeBoost(own.accountId, boost)
    yield* settle(own, { ...verdict, end: undefined }, undefined)
    return { refusedBy: verdict.end === undefined ? undefined : verdict.hits.at(-1)?.id, limits: verdict.limits }
  })

  return {
    boosts,
    judge: (own: Ownership, post: ScreenedPost) => screening.judge(own.accountId, post),
    settle,
    edits
  }
})
