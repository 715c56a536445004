import { Context, Effect, Layer } from "effect"
import type { AccountId } from "../../services/database/Ids.ts"
import { renderedRows } from "../../services/database/RenderedRows.ts"
import { type SeveranceRecord, Severances } from "../../services/federation/domains/Severances.ts"
import type { NotificationGroupRecord } from "../../services/feeds/GroupedNotifications.ts"
import { Strikes } from "../../services/moderation/Strikes.ts"
import { traced } from "../../services/runtime/Traced.ts"
import { StaffMembers } from "../../services/staff/StaffMembers.ts"
import { StatusReactions } from "../../services/statuses/StatusReactions.ts"
import { partialAccount } from "../wire/Account.ts"
import type { Collection } from "../wire/Collection.ts"
import { id, timestamp } from "../wire/Common.ts"
import { json, type JsonOf, list, type Values, withMembers } from "../wire/Keys.ts"
import type {
  AccountWarning,
  GroupedNotificationsResults,
  NotificationFallback,
  NotificationGroup
} from "../wire/Notification.ts"
import type { Report } from "../wire/Report.ts"
import { AccountViews } from "./AccountViews.ts"
import { CollectionViews } from "./CollectionViews.ts"
import { type Fallback, noFallback } from "./NotificationFallbacks.ts"
import { reactionsIn } from "./NotificationReactions.ts"
import * as ReportJson from "./ReportJson.ts"
import { severanceValues } from "./SeveranceValues.ts"
import { StatusViews } from "./StatusViews.ts"
import { warningText } from "./WarningJson.ts"

/** Notification groups with their accounts and statuses, each once; takes the queries of a status page. */
export class NotificationGroupViews extends Context.Service<NotificationGroupViews, {
  /**
   * Renders groups. With `partial` only the newest account of a group is complete, and the others have what an avatar
   * needs.
   */
  readonly render: (
    owner: AccountId,
    groups: ReadonlyArray<NotificationGroupRecord>,
    partial: boolean,
    fallback?: Fallback
  ) => Effect.Effect<JsonOf<GroupedNotificationsResults>>
}>()("murmuration/http/render/NotificationGroupViews") {
  static readonly layerNoDeps = Layer.effect(
    NotificationGroupViews,
    Effect.gen(function*() {
      const accounts = yield* AccountViews
      const reports = yield* ReportJson.make
      const severances = yield* Severances
      const strikes = yield* Strikes
      const collections = yield* CollectionViews
      const statuses = yield* StatusViews
      const reactedWith = reactionsIn(yield* StatusReactions)

      const render = traced("NotificationGroupViews.render")(function*(
        owner: AccountId,
        groups: ReadonlyArray<NotificationGroupRecord>,
        partial: boolean,
        fallback: Fallback = noFallback
      ) {
        const named = new Set(groups.flatMap(({ newest }) => newest.statusId ?? []))
        const shown = yield* statuses.byId(owner, [...named])
        const people = yield* accounts.byId(new Set(groups.flatMap(({ sampleAccountIds }) => sampleAccountIds)))
        const reported = yield* reports(owner, groups.flatMap(({ newest }) => newest.reportId ?? []))
        const collected = yield* collections.byId(owner, groups.flatMap(({ newest }) => newest.collectionId ?? []))
        const visible = groups.filter(({ newest }) =>
          (newest.statusId === undefined || shown.has(newest.statusId)) &&
          (newest.reportId === undefined || reported.has(newest.reportId)) &&
          (newest.collectionId === undefined || collected.has(newest.collectionId))
        )
        const fullIds = new Set(
          visible.flatMap(({ sampleAccountIds }) => partial ? sampleAccountIds.slice(0, 1) : sampleAccountIds)
        )
        const partialIds = new Set(
          visible.flatMap(({ sampleAccountIds }) => sampleAccountIds.filter((one) => !fullIds.has(one)))
        )
        const events = yield* severances.load(groups.flatMap(({ newest }) => newest.severanceId ?? []))
        const warnings = yield* strikes.load(groups.flatMap(({ newest }) => newest.warningId ?? []))
        const texts = (ids: Iterable<bigint>) => [...ids].flatMap((one) => people.get(one) ?? [])
        const emojis = yield* reactedWith(visible.map(({ newest }) => newest))
        const parts = {
          accounts: list(texts(fullIds)),
          statuses: list([...named].flatMap((one) => shown.get(one) ?? [])),
          notificationGroups: list(
            yield* renderedRows(
              "notification group",
              visible,
              ({ key }) => key,
              (group) => {
                const newest = people.get(group.newest.fromAccountId)
                const words = newest && fallback(group.newest.type, newest)
                const strike = warnings.get(group.newest.warningId ?? 0n)
                return groupText(group, events, {
                  warning: newest && strike && warningText(strike, newest),
                  report: reported.get(group.newest.reportId ?? 0n),
                  collection: collected.get(group.newest.collectionId ?? 0n),
                  fallback: words,
                  emoji: emojis.get(group.newest.id)
                })
              }
            )
          )
        }
        return partial
          ? withMembers<Results, keyof typeof parts | "partialAccounts">({}, {
            ...parts,
            partialAccounts: list(texts(partialIds).map(partialAccount))
          })
          : withMembers<Results, keyof typeof parts>({}, parts)
      })
      return NotificationGroupViews.of({ render })
    })
  )
  static readonly layer = NotificationGroupViews.layerNoDeps.pipe(
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

type Results = GroupedNotificationsResults

const groupText = (
  { count, key, newest, oldest, sampleAccountIds }: NotificationGroupRecord,
  events: ReadonlyMap<bigint, SeveranceRecord>,
  { collection, emoji, fallback, report, warning }: {
    readonly warning: JsonOf<AccountWarning> | undefined
    readonly report: JsonOf<Report> | undefined
    readonly collection: JsonOf<Collection> | undefined
    readonly fallback: Values<NotificationFallback> | undefined
    readonly emoji: Pick<Values<NotificationGroup>, "emoji" | "emojiUrl"> | undefined
  }
): JsonOf<NotificationGroup> | undefined => {
  const event = newest.severanceId === undefined ? undefined : events.get(newest.severanceId)
  const values = {
    groupKey: key,
    notificationsCount: count,
    type: newest.type,
    mostRecentNotificationId: newest.id,
    pageMinId: id(oldest.id),
    pageMaxId: id(newest.id),
    latestPageNotificationAt: timestamp(newest.createdAt),
    sampleAccountIds: sampleAccountIds.map(id),
    ...(newest.statusId !== undefined && { statusId: id(newest.statusId) }),
    ...(newest.year !== undefined && { annualReport: { year: newest.year } }),
    ...emoji,
    ...(event !== undefined && { event: severanceValues(event) }),
    ...(fallback && { fallback })
  }
  if (warning !== undefined) {
    return withMembers<NotificationGroup, "moderationWarning">(values, { moderationWarning: warning })
  }
  if (report !== undefined) return withMembers<NotificationGroup, "report">(values, { report })
  return collection === undefined
    ? json<NotificationGroup>(values)
    : withMembers<NotificationGroup, "collection">(values, { collection })
}
