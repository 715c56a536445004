import { type NotificationType, typesWhere } from "../notifications/NotificationTypes.ts"
import type { NotificationRecord } from "./Notifications.ts"

/** Types that can be grouped (operations.md section 10); all others are ungrouped. */
const groupables = typesWhere(({ groupable }) => groupable)
export const groupableTypes: ReadonlySet<string> = new Set(groupables)

/** Length of a group's half-day window, in hours. */
const groupHours = 12
const hourMillis = 3_600_000

/**
 * Notifications of one type and status (0 for none) in a half day that starts at `from`, in milliseconds since 1970.
 */
export interface GroupSpan {
  readonly type: NotificationType
  readonly statusId: bigint
  readonly from: number
}

export const spanMillis = groupHours * hourMillis

const spanOf = ({ createdAt, statusId, type }: NotificationRecord): GroupSpan => ({
  type,
  statusId: statusId ?? 0n,
  from: Math.floor(createdAt.getTime() / spanMillis) * spanMillis
})

/** Returns `favourite-<status>-<hour>` or `follow-<hour>`; the hour counts from 1970. */
export const keyOfSpan = ({ from, statusId, type }: GroupSpan): string =>
  statusId === 0n ? `${type}-${from / hourMillis}` : `${type}-${statusId}-${from / hourMillis}`

/** Returns the key of a notification's group, `ungrouped-<id>` if it has none. */
export const groupKeyOf = (
  record: NotificationRecord,
  grouped: ReadonlySet<string> = groupableTypes
): string =>
  groupableTypes.has(record.type) && grouped.has(record.type) ? keyOfSpan(spanOf(record)) : `ungrouped-${record.id}`

/** Returns the number of groups among notifications. */
export const groupsAmong = (records: ReadonlyArray<NotificationRecord>, grouped: ReadonlySet<string>): number =>
  new Set(records.map((record) => groupKeyOf(record, grouped))).size

/** Parses a group key to a notification id or a span; undefined if invalid. */
export const parseGroupKey = (key: string): bigint | GroupSpan | undefined => {
  const ungrouped = /^ungrouped-(\d{1,18})$/.exec(key)
  if (ungrouped?.[1] !== undefined) return BigInt(ungrouped[1])
  const [, name, status = "0", hour = ""] = /^([a-z_.]+)(?:-(\d{1,18}))?-(\d{1,9})$/.exec(key) ?? []
  const type = groupables.find((one) => one === name)
  return type && { type, statusId: BigInt(status), from: Number(hour) * hourMillis }
}
