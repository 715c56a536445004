import { Context, Effect, Layer } from "effect"
import type { AccountId } from "../../services/database/Ids.ts"
import { renderedRows } from "../../services/database/RenderedRows.ts"
import { Severances } from "../../services/federation/domains/Severances.ts"
import { groupKeyOf } from "../../services/feeds/NotificationGroups.ts"
import { type NotificationRecord, Notifications } from "../../services/feeds/Notifications.ts"
import type { FilterContext } from "../../services/filters/Filter.ts"
import { Strikes } from "../../services/moderation/Strikes.ts"
import { kindOf } from "../../services/notifications/NotificationTypes.ts"
import { RecordNotFound } from "../../services/runtime/Errors.ts"
import { traced } from "../../services/runtime/Traced.ts"
import { StaffMembers } from "../../services/staff/StaffMembers.ts"
import { StatusReactions } from "../../services/statuses/StatusReactions.ts"
import { id, timestamp } from "../wire/Common.ts"
import { type JsonOf, withMembers } from "../wire/Keys.ts"
import type { Notification } from "../wire/Notification.ts"
import { AccountViews } from "./AccountViews.ts"
import { CollectionViews } from "./CollectionViews.ts"
import { type Fallback, noFallback } from "./NotificationFallbacks.ts"
import { reactionsIn } from "./NotificationReactions.ts"
import * as ReportJson from "./ReportJson.ts"
import { severanceValues } from "./SeveranceValues.ts"
import { StatusViews } from "./StatusViews.ts"
import { warningText } from "./WarningJson.ts"

/** Notifications as serialised JSON; a list takes the queries of a status page, and two for reports. */
export class NotificationViews extends Context.Service<NotificationViews, {
  /**
   * Renders notifications in their order, without those whose status the owner may not see or filters in the `context`.
   */
  readonly render: (
    owner: AccountId,
    records: ReadonlyArray<NotificationRecord>,
    context?: FilterContext,
    fallback?: Fallback
  ) => Effect.Effect<ReadonlyArray<JsonOf<Notification>>>
  readonly renderOne: (
    owner: AccountId,
    notificationId: bigint,
    context?: FilterContext,
    fallback?: Fallback
  ) => Effect.Effect<JsonOf<Notification>, RecordNotFound>
  /** Returns the rows whose status the owner's filters do not hide in notifications. */
  readonly unhidden: <Row>(
    owner: AccountId,
    rows: ReadonlyArray<Row>,
    recordOf: (row: Row) => NotificationRecord
  ) => Effect.Effect<ReadonlyArray<Row>>
}>()("murmuration/http/render/NotificationViews") {
  static readonly layerNoDeps = Layer.effect(
    NotificationViews,
    Effect.gen(function*() {
      const notifications = yield* Notifications
      const accounts = yield* AccountViews
      const reports = yield* ReportJson.make
      const severances = yield* Severances
      const strikes = yield* Strikes
      const collections = yield* CollectionViews
      const statuses = yield* StatusViews
      const reactedWith = reactionsIn(yield* StatusReactions)

      const render = traced("NotificationViews.render")(function*(
        owner: AccountId,
        records: ReadonlyArray<NotificationRecord>,
        context?: FilterContext,
        fallback: Fallback = noFallback
      ) {
        const named = new Set(records.flatMap(({ statusId }) => statusId ?? []))
        const shown = yield* statuses.byId(owner, [...named], "nothing", context)
        const people = yield* accounts.byId(new Set(records.map(({ fromAccountId }) => fromAccountId)))
        const events = yield* severances.load(records.flatMap(({ severanceId }) => severanceId ?? []))
        const reported = yield* reports(owner, records.flatMap(({ reportId }) => reportId ?? []))
        const collected = yield* collections.byId(owner, records.flatMap(({ collectionId }) => collectionId ?? []))
        const warnings = yield* strikes.load(records.flatMap(({ warningId }) => warningId ?? []))
        const emojis = yield* reactedWith(records)
        return yield* renderedRows("notification", records, (record) => record.id, (record) => {
          const {
            collectionId = 0n,
            createdAt,
            fromAccountId,
            reportId = 0n,
            severanceId = 0n,
            statusId = 0n,
            type,
            warningId = 0n,
            year = ""
          } = record
          const account = people.get(fromAccountId)
          if (account === undefined) return undefined
          const words = fallback(type, account)
          const values = {
            id: id(record.id),
            type,
            createdAt: timestamp(createdAt),
            groupKey: groupKeyOf(record),
            ...(record.filtered && { filtered: true as const }),
            ...(words && { fallback: words })
          }
          switch (kindOf(type).subject) {
            case "nothing":
              return withMembers<Notification, "account">(values, { account })
            case "status": {
              const status = shown.get(statusId)
              const emoji = emojis.get(record.id)
              return status &&
                withMembers<Notification, "account" | "status">({ ...values, ...emoji }, { account, status })
            }
            case "report": {
              const report = reported.get(reportId)
              return report && withMembers<Notification, "account" | "report">(values, { account, report })
            }
            case "collection": {
              const collection = collected.get(collectionId)
              return collection && withMembers<Notification, "account" | "collection">(values, { account, collection })
            }
            case "warning": {
              const strike = warnings.get(warningId)
              return strike && withMembers<Notification, "account" | "moderationWarning">(values, {
                account,
                moderationWarning: warningText(strike, account)
              })
            }
            case "year":
              return withMembers<Notification, "account">({ ...values, annualReport: { year } }, { account })
            case "severance": {
              const event = events.get(severanceId)
              const lost = event === undefined ? {} : { event: severanceValues(event) }
              return withMembers<Notification, "account">({ ...values, ...lost }, { account })
            }
          }
        })
      })

      const renderOne = traced("NotificationViews.renderOne")(function*(
        owner: AccountId,
        notificationId: bigint,
        context?: FilterContext,
        fallback?: Fallback
      ) {
        const [text] = yield* render(owner, [yield* notifications.find(owner, notificationId)], context, fallback)
        return text ?? (yield* new RecordNotFound())
      })

      const unhidden = Effect.fnUntraced(function*<Row>(
        owner: AccountId,
        rows: ReadonlyArray<Row>,
        recordOf: (row: Row) => NotificationRecord
      ) {
        if (!(yield* statuses.hides(owner))) return rows
        const named = new Set(rows.flatMap((row) => recordOf(row).statusId ?? []))
        const left = new Set(yield* statuses.unhidden(owner, [...named], "notifications"))
        return rows.filter((row) => {
          const { statusId } = recordOf(row)
          return statusId === undefined || left.has(statusId)
        })
      })
      return NotificationViews.of({ render, renderOne, unhidden })
    })
  )
  static readonly layer = NotificationViews.layerNoDeps.pipe(
    Layer.provide([
      AccountViews.layer,
      CollectionViews.layer,
      StatusViews.layer,
      Severances.layer,
      StaffMembers.layer,
      Strikes.layer
    ])
  )
}
