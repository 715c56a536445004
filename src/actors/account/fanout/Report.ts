import { Effect } from "effect"
import { EmailChoices } from "../../../services/emails/EmailChoices.ts"
import { NotificationWriter } from "../../../services/feeds/NotificationWriter.ts"
import { Fanouts } from "../../../services/intents/Fanouts.ts"
import type { Report } from "../../../services/intents/Intent.ts"
import type { Owners } from "../core/Ownership.ts"
import type { Slice } from "./Slice.ts"

/** Fan-out of a report: notifies the moderators. Built once per node. */
export const make = Effect.fnUntraced(function*({ owned }: Owners) {
  const choices = yield* EmailChoices
  const fanouts = yield* Fanouts
  const writer = yield* NotificationWriter

  const slice: Slice<Report> = (own, at, { report }) =>
    owned(
      own,
      writer.notifyStaff("admin.report", own.accountId, report).pipe(
        Effect.andThen(choices.enableReports(own.accountId, report)),
        Effect.andThen(fanouts.complete(at))
      )
    )
  return slice
})
