import { Effect, Option } from "effect"
import type { AccountId } from "../../services/database/Ids.ts"
import { renderedRows } from "../../services/database/RenderedRows.ts"
import { type ReportRecord, Reports } from "../../services/moderation/Reports.ts"
import { staffOf } from "../../services/notifications/NotificationTypes.ts"
import { may } from "../../services/staff/Permissions.ts"
import { StaffMembers } from "../../services/staff/StaffMembers.ts"
import type { Account } from "../wire/Account.ts"
import { timestamp, timestampOrNull } from "../wire/Common.ts"
import { type JsonOf, withMembers } from "../wire/Keys.ts"
import type { Report } from "../wire/Report.ts"
import { AccountViews } from "./AccountViews.ts"

/** Renders a report with the JSON of the reported account. */
export const reportText = (record: ReportRecord, targetAccount: JsonOf<Account>): JsonOf<Report> => {
  const { actionTakenAt, category, collectionIds, comment, createdAt, forwardDomains, id, ruleIds, statusIds } = record
  return withMembers<Report, "targetAccount">({
    id: String(id),
    category,
    comment,
    actionTaken: actionTakenAt !== null,
    actionTakenAt: timestampOrNull(actionTakenAt),
    forwarded: forwardDomains.length > 0,
    createdAt: timestamp(createdAt),
    statusIds: statusIds.map(String),
    ruleIds: ruleIds.map(String),
    collectionIds: collectionIds.map(String)
  }, { targetAccount })
}

/** Renders reports by id for a moderator; none if the account is no longer one. Takes no query without ids. */
export const make = Effect.gen(function*() {
  const accounts = yield* AccountViews
  const reports = yield* Reports
  const staff = yield* StaffMembers
  return Effect.fnUntraced(function*(moderator: AccountId, ids: ReadonlyArray<bigint>) {
    if (ids.length === 0) return new Map<bigint, JsonOf<Report>>()
    const member = Option.getOrUndefined(yield* staff.find(moderator))
    if (!may(member?.permissions ?? 0n, staffOf("admin.report"))) return new Map<bigint, JsonOf<Report>>()
    const records = yield* reports.load(ids)
    const people = yield* accounts.byId(new Set(records.map(({ targetAccountId }) => targetAccountId)))
    return new Map(
      yield* renderedRows(
        "report",
        records,
        ({ id }) => id,
        (record): readonly [bigint, JsonOf<Report>] | undefined => {
          const target = people.get(record.targetAccountId)
          return target === undefined ? undefined : [record.id, reportText(record, target)]
        }
      )
    )
  })
})
