import { Effect } from "effect"
import { type ReportRecord, Reports } from "../../services/moderation/Reports.ts"
import { renderedRows } from "../../services/RenderedRows.ts"
import type { Account } from "../wire/Account.ts"
import { timestamp, timestampOrNull } from "../wire/Common.ts"
import { type Ready, splice } from "../wire/Keys.ts"
import type { Report } from "../wire/Report.ts"
import { AccountViews } from "./AccountViews.ts"

/** A report with the JSON of the account that it is about. */
export const reportText = (record: ReportRecord, targetAccount: Ready<Account>): Ready<Report> => {
  const { actionTakenAt, category, collectionIds, comment, createdAt, forwardDomains, id, ruleIds, statusIds } = record
  return splice<Report, "targetAccount">({
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

/** Reports that moderators are told of, as ready JSON by id; none costs nothing. */
export const make = Effect.gen(function*() {
  const accounts = yield* AccountViews
  const reports = yield* Reports
  return Effect.fnUntraced(function*(ids: ReadonlyArray<bigint>) {
    if (ids.length === 0) return new Map<bigint, Ready<Report>>()
    const records = yield* reports.load(ids)
    const people = yield* accounts.byId(new Set(records.map(({ targetAccountId }) => targetAccountId)))
    return new Map(
      yield* renderedRows("report", records, ({ id }) => id, (record): readonly [bigint, Ready<Report>] | undefined => {
        const target = people.get(record.targetAccountId)
        return target === undefined ? undefined : [record.id, reportText(record, target)]
      })
    )
  })
})
