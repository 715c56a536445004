import { Context, Effect, Layer, Struct } from "effect"
import type { AccountId } from "../../../services/database/Ids.ts"
import { renderedRows } from "../../../services/database/RenderedRows.ts"
import { type AdminReport as Report, AdminReports } from "../../../services/moderation/AdminReports.ts"
import { KeptCollections } from "../../../services/moderation/KeptCollections.ts"
import { traced } from "../../../services/runtime/Traced.ts"
import { CollectionViews } from "../../render/CollectionViews.ts"
import { StatusViews } from "../../render/StatusViews.ts"
import { ruleValues } from "../../render/Values.ts"
import { id, timestamp, timestampOrNull } from "../../wire/Common.ts"
import type { Rule } from "../../wire/Instance.ts"
import { json, type JsonOf, list, none, withMembers } from "../../wire/Keys.ts"
import type { AdminReport } from "../wire/AdminReport.ts"
import { AdminAccountViews } from "./AdminAccountViews.ts"

/** Reports for moderators, in a fixed number of queries. */
export class AdminReportViews extends Context.Service<AdminReportViews, {
  /** Renders reports with the reported statuses, whatever their visibility. */
  readonly render: (
    moderator: AccountId,
    reports: ReadonlyArray<Report>
  ) => Effect.Effect<ReadonlyArray<JsonOf<AdminReport>>>
}>()("murmuration/http/staff/render/AdminReportViews") {
  static readonly layer = Layer.effect(
    AdminReportViews,
    Effect.gen(function*() {
      const adminReports = yield* AdminReports
      const keptCollections = yield* KeptCollections
      const collectionViews = yield* CollectionViews
      const accounts = yield* AdminAccountViews
      const statuses = yield* StatusViews

      const render = traced("AdminReportViews.render")(function*(moderator: AccountId, reports: ReadonlyArray<Report>) {
        const people = yield* accounts.byId(
          reports.flatMap(({ accountId, actionTakenByAccountId, assignedAccountId, targetAccountId }) => [
            accountId,
            targetAccountId,
            ...(assignedAccountId === null ? [] : [assignedAccountId]),
            ...(actionTakenByAccountId === null ? [] : [actionTakenByAccountId])
          ])
        )
        const named = new Set(reports.flatMap(({ statusIds }) => statusIds))
        const posts = yield* statuses.byId(moderator, [...named], "permitted")
        const lists = new Map(
          (yield* keptCollections.load(reports.flatMap(({ collectionIds }) => collectionIds)))
            .map((record) => [record.id, collectionViews.of(Struct.omit(record, ["gone"]))] as const)
        )
        const rules = yield* adminReports.rules(reports.flatMap(({ ruleIds }) => ruleIds))
        return yield* renderedRows("report", reports, (one) => one.id, (one): JsonOf<AdminReport> | undefined => {
          const {
            actionTakenAt,
            category,
            collectionIds,
            comment,
            createdAt,
            forwardDomains,
            ruleIds,
            statusIds,
            updatedAt
          } = one
          const [account, targetAccount] = [people.get(one.accountId), people.get(one.targetAccountId)]
          if (account === undefined || targetAccount === undefined) return undefined
          return withMembers<
            AdminReport,
            | "account"
            | "targetAccount"
            | "assignedAccount"
            | "actionTakenByAccount"
            | "statuses"
            | "rules"
            | "collections"
          >({
            id: id(one.id),
            actionTaken: actionTakenAt !== null,
            actionTakenAt: timestampOrNull(actionTakenAt),
            category,
            comment,
            forwarded: forwardDomains.length > 0,
            createdAt: timestamp(createdAt),
            updatedAt: timestamp(updatedAt)
          }, {
            account,
            targetAccount,
            assignedAccount: people.get(one.assignedAccountId ?? -1n) ?? none,
            actionTakenByAccount: people.get(one.actionTakenByAccountId ?? -1n) ?? none,
            statuses: list(statusIds.flatMap((status) => posts.get(status) ?? [])),
            rules: list(ruleIds.flatMap((rule) => {
              const found = rules.get(rule)
              return found === undefined ? [] : [json<Rule>(ruleValues(found))]
            })),
            collections: list(collectionIds.flatMap((one) => lists.get(one) ?? []))
          })
        })
      })
      return AdminReportViews.of({ render })
    })
  ).pipe(
    Layer.provide([
      AdminAccountViews.layer,
      AdminReports.layer,
      CollectionViews.layer,
      KeptCollections.layer,
      StatusViews.layer
    ])
  )
}
