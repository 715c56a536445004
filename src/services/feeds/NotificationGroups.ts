import { type NotificationType, typesWhere } from "../NotificationTypes.ts"
import type { NotificationRecord } from "./Notifications.ts"

/** Types that can be grouped (operations.md section 10); all others stand alone. */
const groupables = typesWhere(({ groupable }) => groupable)
export const groupableTypes: ReadonlySet<string> = new Set(groupables)

/** A group spans at most twelve hours: those of the half day in which its notifications came. */
const groupHours = 12
const hourMillis = 3_600_000

/** Those of a type and status (0 for none) of a half day, from a time on, in milliseconds since 1970. */
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

/** `favourite-<status>-<hour>` or `follow-<hour>`; the hour counts from 1970. */
export const keyOfSpan = ({ from, statusId, type }: GroupSpan): string =>
  statusId === 0n ? `${type}-${from / hourMillis}` : `${type}-${statusId}-${from / hourMillis}`

/** The key of a notification's group, `ungrouped-<id>` where it stands alone. */
export const groupKeyOf = (
  record: NotificationRecord,
  grouped: ReadonlySet<string> = groupableTypes
): string =>
  groupableTypes.has(record.type) && grouped.has(record.type) ? keyOfSpan(spanOf(record)) : `ungrouped-${record.id}`

/** How many groups notifications make. */
export const groupsAmong = (records: ReadonlyArray<NotificationRecord>, grouped: ReadonlySet<string>): number =>
  new Set(records.map((record) => groupKeyOf(record, grouped))).size

/** What a key names: one notification by its id, or a span; undefined for what is no key. */
export const parseGroupKey = (key: string): bigint | GroupSpan | undefined => {
  const alone = /^ungrouped-(\d{1,18})$/.exec(key)
  if (alone?.[1] !== undefined) return BigInt(alone[1])
  const [, name, status = "0", hour = ""] = /^([a-z_.]+)(?:-(\d{1,18}))?-(\d{1,9})$/.exec(key) ?? []
  const type = groupables.find((one) => one === name)
  return type && { type, statusId: BigInt(status), from: Number(hour) * hourMillis }
}
