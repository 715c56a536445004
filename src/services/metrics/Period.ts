import { idAt } from "../database/Ids.ts"

/** Maximum days of a period. */
const periodDaysMax = 366

/** Length of a day, in milliseconds. */
export const dayMillis = 86_400_000

/** Whole days in UTC, counted from 1970, inclusive. */
export interface Period {
  readonly first: number
  readonly last: number
}

/**
 * Returns the days between two moments, the newest ones if they exceed the maximum; undefined if the end is before the
 * start.
 */
export const periodOf = (start: Date, end: Date): Period | undefined => {
  const last = Math.floor(end.getTime() / dayMillis)
  const first = Math.max(Math.floor(start.getTime() / dayMillis), last - periodDaysMax + 1)
  return first > last ? undefined : { first, last }
}

/** Returns the period of the same length before this one. */
export const before = ({ first, last }: Period): Period => ({ first: first - (last - first + 1), last: first - 1 })

export const daysOf = ({ first, last }: Period): ReadonlyArray<number> =>
  Array.from({ length: last - first + 1 }, (_, at) => first + at)

export const midnightOf = (day: number): Date => new Date(day * dayMillis)
/** Returns the first moment of a period and the first one after it. */
export const momentsOf = ({ first, last }: Period) => ({ from: midnightOf(first), to: midnightOf(last + 1) })
/** Like `momentsOf`, as ids. */
export const idsOf = ({ first, last }: Period) => ({ from: idAt(first * dayMillis), to: idAt((last + 1) * dayMillis) })
