import { idAt } from "../Ids.ts"
import type { Turn } from "../intents/Chores.ts"

/** How often trends are computed anew, in milliseconds. */
export const refreshMillis = 5 * 60_000
/** Uses that are looked at: of the last six hours, in which posts of other servers still come as new; after a pause of a day at most. */
const windowMillis = 6 * 3_600_000
const windowMillisMax = 86_400_000
/** Different accounts of one day that are counted of one thing. */
export const countedMax = 10_000
/** Things of one kind that one refresh looks at. */
export const candidatesMax = 20_000
/** Things of one kind that are kept as trending. */
export const trendsMax = 500

const dayMillis = 86_400_000

/** The smallest id of uses that a refresh looks at. */
export const usedSince = ({ before, now }: Turn): bigint =>
  idAt(Math.max(now - windowMillisMax, Math.min(before ?? 0, now - windowMillis)))

/** The day of a moment, counted from 1970, and the moment at which it begins. */
export const dayOf = (millis: number): number => Math.floor(millis / dayMillis)
export const startOf = (day: number): number => day * dayMillis
