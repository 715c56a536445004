import { idAt } from "../database/Ids.ts"
import type { Turn } from "../intents/Chores.ts"

/** Period between computations of trends, in milliseconds. */
export const refreshMillis = 5 * 60_000
/**
 * Time span of uses that are read, in milliseconds: six hours, as remote posts may arrive late; after a pause up to a
 * day.
 */
const windowMillis = 6 * 3_600_000
const windowMillisMax = 86_400_000
/** Maximum counted accounts of one subject and day. */
export const countedMax = 10_000
/** Maximum candidates of one kind in a refresh. */
export const candidatesMax = 20_000
/** Maximum trends of one kind. */
export const trendsMax = 500

const dayMillis = 86_400_000

/** Returns the smallest id of uses that a refresh reads. */
export const usedSince = ({ before, now }: Turn): bigint =>
  idAt(Math.max(now - windowMillisMax, Math.min(before ?? 0, now - windowMillis)))

/** Day of a time, counted from 1970, and start of a day in milliseconds. */
export const dayOf = (millis: number): number => Math.floor(millis / dayMillis)
export const startOf = (day: number): number => day * dayMillis
