import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { PromisedEmails } from "../../../services/emails/PromisedEmails.ts"
import { Broadcast } from "../../../services/events/Broadcast.ts"
import { PostActivities } from "../../../services/federation/outbox/PostActivities.ts"
import { NotificationWriter } from "../../../services/feeds/NotificationWriter.ts"
import { AccountActions, typeOf } from "../../../services/moderation/AccountActions.ts"
import type { LastingType } from "../../../services/moderation/ActionTypes.ts"
import { ReportDesk } from "../../../services/moderation/ReportDesk.ts"
import { Reports } from "../../../services/moderation/Reports.ts"
import * as IntentWriter from "../core/IntentWriter.ts"
import type { Ownership } from "../core/Ownership.ts"
import { type Commands, onAccount, onReport, onWarning } from "../core/Verbs.ts"
import * as Sending from "../fanout/Sending.ts"
import * as TellFollowers from "../fanout/TellFollowers.ts"
import type { ModeratingStatuses } from "./ModeratingStatuses.ts"

/** Reports that the account files, and moderation actions against it. */
export const make = Effect.fnUntraced(function*(statuses: Pick<ModeratingStatuses, "mark" | "markCollection">) {
  const sql = yield* SqlClient.SqlClient
  const tellFollowers = yield* TellFollowers.make
  const broadcast = yield* Broadcast
  const intend = yield* IntentWriter.make
  const activities = yield* PostActivities
  const send = yield* Sending.make
  const accountActions = yield* AccountActions
  const emails = yield* PromisedEmails
  const notificationWriter = yield* NotificationWriter
  const desk = yield* ReportDesk
  const reports = yield* Reports

  /**
   * Closes the streams of a suspended or disabled account: right after the commit, and by an intent in case this node
   * dies in between. Tells its followers of a suspension.
   */
  const enforceLasting = Effect.fnUntraced(function*(own: Ownership, type: LastingType, inForce: boolean) {
    const keptOut = type === "suspend" || type === "disable"
    if (type === "suspend") yield* tellFollowers(own, "Profile")
    // Feeds that were rebuilt during the suspension, including the account's own, lack its posts.
    if (type === "suspend" && !inForce) yield* intend(own, { _tag: "homes", readers: [own.accountId], followers: true })
    if (keptOut && inForce) {
      yield* intend(own, { _tag: "kept_out" })
      yield* sql.afterCommit(broadcast.publish({ _tag: "Revoked", tokenIds: [], accountIds: [own.accountId] }))
    }
  })

  const verbs = {
    Report: Effect.fnUntraced(function*(own: Ownership, report: Commands["Report"]) {
      const id = yield* reports.file(own.accountId, report)
      yield* intend(own, { _tag: "report", report: id })
      if (report.forward) yield* send(activities.flag(id))
      return onReport(id)
    }),
    ForwardReport: Effect.fnUntraced(function*(own: Ownership, { domains, reportId }: Commands["ForwardReport"]) {
      yield* send(activities.flag(reportId, yield* desk.forward(own.accountId, reportId, domains)))
      return onReport(reportId)
    }),
    Moderate: Effect.fnUntraced(function*(own: Ownership, { measure, stands: inForce }: Commands["Moderate"]) {
      const { accountId } = own
      if (yield* accountActions.operate(accountId, measure, inForce)) {
        yield* enforceLasting(own, typeOf[measure], inForce)
      }
      return onAccount(accountId)
    }),
    TakeAction: Effect.fnUntraced(function*(own: Ownership, command: Commands["TakeAction"]) {
      const { accountId } = own
      const strike = yield* accountActions.take(accountId, command)
      if (command.type !== "none") yield* enforceLasting(own, command.type, true)
      if (command.tells) {
        yield* notificationWriter.notifyOwners("moderation_warning", [{ id: strike, accountId }])
        yield* emails.promise("strike", strike)
      }
      return onWarning(strike)
    }),
    DecideAppeal: Effect.fnUntraced(function*(own: Ownership, { appealId, approved, by }: Commands["DecideAppeal"]) {
      const { lifted, unmarked, unmarkedCollections } = yield* accountActions.decide(
        own.accountId,
        by,
        appealId,
        approved
      )
      if (lifted !== undefined) yield* enforceLasting(own, lifted, false)
      for (const statusId of unmarked) yield* statuses.mark(own, statusId, false)
      for (const one of unmarkedCollections) yield* statuses.markCollection(own, one, false)
      return onAccount(own.accountId)
    }),
    LiftAction: Effect.fnUntraced(function*(own: Ownership, { by, type }: Commands["LiftAction"]) {
      if (yield* accountActions.lift(own.accountId, by, type)) yield* enforceLasting(own, type, false)
      return onAccount(own.accountId)
    })
  }
  return { verbs }
})
