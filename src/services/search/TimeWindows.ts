import { idAt, idMax } from "../database/Ids.ts"

/*
 * Finds the newest matches without reading all of them. Each post has tokens of the time slots that it is in, for slots
 * of several lengths. A search queries the newest hour or two, then a day, and so on, until it has enough: common words
 * are found early, and rare words are cheap anyway.
 */

/** Lengths of time slots, in bits of milliseconds: 70 minutes, 19 hours, 12 days, 7 months. */
export const timeSlotBits = [22n, 26n, 30n, 34n] as const

const millisOf = (id: bigint) => id >> 16n

const token = (length: bigint, stretch: bigint) => `:${length}.${stretch.toString(16)}`

/** Returns the time slots of a status, by its id. */
export const timeSlotTokens = (id: bigint): ReadonlyArray<string> =>
  timeSlotBits.map((length) => token(length, millisOf(id) >> length))

/** Ids from `from` to below `to`; all of them have one of the tokens. Without tokens, all ids in the range. */
interface TimeWindow {
  readonly tokens: ReadonlyArray<string>
  readonly from: bigint
  readonly to: bigint
}

/** Ids of a search: above one and below the other. */
interface IdRange {
  readonly above?: bigint | undefined
  readonly below?: bigint | undefined
}

const smaller = (a: bigint, b: bigint) => a < b ? a : b
const larger = (a: bigint, b: bigint) => a > b ? a : b

/**
 * Returns windows that cover a range from its newest id down, or from its oldest up; `now` in milliseconds since 1970.
 */
export const timeWindows = (
  { above = -1n, below = idMax }: IdRange,
  order: "newest first" | "oldest first",
  now: number
): ReadonlyArray<TimeWindow> => {
  const [lowest, end] = [above + 1n, below]
  const down = order === "newest first"
  const windows: Array<TimeWindow> = []
  // No post is newer than now; a minute of clock skew is allowed.
  const start = down ? millisOf(smaller(end, idAt(now + 60_000))) : millisOf(lowest)
  let reached = down ? end : lowest
  for (const length of timeSlotBits) {
    const stretch = start >> length
    const [first, last] = down ? [larger(stretch - 1n, 0n), stretch] : [stretch, stretch + 1n]
    const [from, to] = down
      ? [larger((first << length) << 16n, lowest), reached]
      : [reached, smaller(((last + 1n) << length) << 16n, end)]
    if (from < to) windows.push({ tokens: [token(length, first), token(length, last)], from, to })
    reached = down ? smaller(from, reached) : larger(to, reached)
  }
  const rest = down ? { from: lowest, to: reached } : { from: reached, to: end }
  return rest.from < rest.to ? [...windows, { tokens: [], ...rest }] : windows
}
