import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Broadcast } from "../../services/Broadcast.ts"
import { PostActivities } from "../../services/federation/outbox/PostActivities.ts"
import { ModerationActions } from "../../services/moderation/ModerationActions.ts"
import { Reports } from "../../services/moderation/Reports.ts"
import * as Intents from "./Intents.ts"
import type { Ownership } from "./Ownership.ts"
import * as Sending from "./Sending.ts"
import * as TellFollowers from "./TellFollowers.ts"
import { type Commands, onAccount, onReport } from "./Verbs.ts"

/** What the account tells the moderators, and what they do about it. */
export const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const tellFollowers = yield* TellFollowers.make
  const broadcast = yield* Broadcast
  const intend = yield* Intents.make
  const activities = yield* PostActivities
  const send = yield* Sending.make
  const moderationActions = yield* ModerationActions
  const reports = yield* Reports

  const verbs = {
    Report: Effect.fnUntraced(function*(own: Ownership, report: Commands["Report"]) {
      const id = yield* reports.file(own.accountId, report)
      yield* intend(own, "notify", null, { report: String(id) })
      if (report.forward) yield* send(activities.flag(id))
      return onReport(id)
    }),
    Moderate: Effect.fnUntraced(function*(own: Ownership, { measure, stands }: Commands["Moderate"]) {
      const { accountId } = own
      if (!(yield* moderationActions.set(accountId, measure, stands))) return onAccount(accountId)
      const changed = (kind: "account" | "moderation" | "user") =>
        broadcast.publish({ _tag: "Changed", kind, ids: [accountId] })
      const told = [changed("account"), changed("moderation")]
      if (measure === "suspend") {
        yield* tellFollowers(own, "Profile")
        // Streams of a suspended account end at once.
        told.push(
          stands
            ? broadcast.publish({ _tag: "Revoked", tokenIds: [], accountIds: [accountId] })
            : changed("user")
        )
      }
      yield* sql.afterCommit(Effect.all(told, { discard: true }))
      return onAccount(accountId)
    })
  }
  return { verbs }
})
