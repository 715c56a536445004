import { idAt, idMax } from "../Ids.ts"

/*
 * How a search finds the newest first without reading everything that matches: each post has, besides its words, the number of
 * the stretch of time that it falls into, for stretches of several lengths. A search asks for the words within the newest hour or
 * two, then within a day, and so on, until it has enough: what is common is found early, and what is rare costs little anyway.
 */

/** Lengths of stretches in bits of a number of milliseconds: 70 minutes, 19 hours, 12 days, 7 months. */
export const stretchLengths = [22n, 26n, 30n, 34n] as const

const millisOf = (id: bigint) => id >> 16n

const token = (length: bigint, stretch: bigint) => `:${length}.${stretch.toString(16)}`

/** The stretches that a status falls into, by its id. */
export const stretchesOf = (id: bigint): ReadonlyArray<string> =>
  stretchLengths.map((length) => token(length, millisOf(id) >> length))

/** Ids from `from` up to below `to`, which all have one of the tokens; without tokens any status may be among them. */
interface TimeWindow {
  readonly tokens: ReadonlyArray<string>
  readonly from: bigint
  readonly to: bigint
}

/** Ids that a search is about: above one and below the other. */
interface IdRange {
  readonly above?: bigint | undefined
  readonly below?: bigint | undefined
}

const smaller = (a: bigint, b: bigint) => a < b ? a : b
const larger = (a: bigint, b: bigint) => a > b ? a : b

/** Windows that cover a range from its newest id down, or from its oldest up; `now` in milliseconds since 1970. */
export const timeWindows = (
  { above = -1n, below = idMax }: IdRange,
  order: "newest first" | "oldest first",
  now: number
): ReadonlyArray<TimeWindow> => {
  const [lowest, end] = [above + 1n, below]
  const down = order === "newest first"
  const windows: Array<TimeWindow> = []
  // Nothing is newer than the moment at which it came.
  const start = down ? millisOf(smaller(end, idAt(now + 60_000))) : millisOf(lowest)
  let reached = down ? end : lowest
  for (const length of stretchLengths) {
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
