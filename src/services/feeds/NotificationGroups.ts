import type { NotificationRecord } from "./Notifications.ts"

/** Types that can be grouped (operations.md section 10); all others stand alone. */
export const groupableTypes: ReadonlySet<string> = new Set(["favourite", "reblog", "follow"])

/** A group spans at most twelve hours: those of the half day in which its notifications came. */
export const groupHours = 12
const hourMillis = 3_600_000

const halfDayOf = (createdAt: Date) => Math.floor(createdAt.getTime() / (groupHours * hourMillis)) * groupHours

/** `favourite-<status>-<hour>`, `follow-<hour>`, or `ungrouped-<id>`; the hour counts from 1970. */
export const groupKeyOf = (
  { createdAt, id, statusId, type }: NotificationRecord,
  grouped: ReadonlySet<string> = groupableTypes
): string => {
  if (!groupableTypes.has(type) || !grouped.has(type)) return `ungrouped-${id}`
  return statusId === undefined ? `${type}-${halfDayOf(createdAt)}` : `${type}-${statusId}-${halfDayOf(createdAt)}`
}

/** What a group's key says: one notification, or those of a type and status in a half day (milliseconds since 1970). */
export type GroupKey =
  | { readonly id: bigint }
  | { readonly type: string; readonly statusId: bigint | undefined; readonly from: number; readonly to: number }

/** Undefined for what is no key. */
export const parseGroupKey = (key: string): GroupKey | undefined => {
  const alone = /^ungrouped-(\d{1,19})$/.exec(key)
  if (alone?.[1] !== undefined) return { id: BigInt(alone[1]) }
  const [, type = "", status, hour = ""] = /^([a-z]+)(?:-(\d{1,19}))?-(\d{1,9})$/.exec(key) ?? []
  if (!groupableTypes.has(type)) return undefined
  const from = Number(hour) * hourMillis
  return {
    type,
    statusId: status === undefined ? undefined : BigInt(status),
    from,
    to: from + groupHours * hourMillis
  }
}
