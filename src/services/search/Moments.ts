import { DateTime, Option } from "effect"
import { idAt, idMax } from "../Ids.ts"
import type { Page } from "../Paging.ts"
import type { Moment, SearchQuery } from "./SearchQuery.ts"

/** Ids between `above` and `below`, without those of the stretches in `except`. */
interface SearchedRange {
  readonly above: bigint | undefined
  readonly below: bigint | undefined
  readonly except: ReadonlyArray<{ readonly above: bigint; readonly below: bigint }>
}

/** The first millisecond of what a moment names, and the first one after it, where the viewer lives. */
const stretchOf = (moment: Moment, timeZone: string): readonly [number, number] => {
  if (moment.kind === "millis") return [moment.millis, moment.millis + 1]
  const { day, month, year } = moment
  const at = (parts: { readonly year: number; readonly month: number; readonly day: number }) =>
    Option.match(DateTime.makeZoned(parts, { timeZone, adjustForTimeZone: true }), {
      onNone: () => Date.UTC(parts.year, parts.month - 1, parts.day),
      onSome: DateTime.toEpochMillis
    })
  const next = day !== undefined
    ? new Date(Date.UTC(year, (month ?? 1) - 1, day + 1))
    : month !== undefined
    ? new Date(Date.UTC(year, month, 1))
    : new Date(Date.UTC(year + 1, 0, 1))
  return [
    at({ year, month: month ?? 1, day: day ?? 1 }),
    at({ year: next.getUTCFullYear(), month: next.getUTCMonth() + 1, day: next.getUTCDate() })
  ]
}

const smaller = (a: bigint, b: bigint) => a < b ? a : b

/** The ids that a query and its page are about; a day is one of the viewer's time zone. */
export const idRangeOf = ({ operators }: SearchQuery, page: Page, timeZone: string | null): SearchedRange => {
  const above = [page.minId ?? page.sinceId ?? -1n]
  const below = [page.maxId ?? idMax]
  const except: Array<{ readonly above: bigint; readonly below: bigint }> = []
  for (const { negated, what } of operators) {
    if (what.kind !== "before" && what.kind !== "after" && what.kind !== "during") continue
    const [first, next] = stretchOf(what.moment, timeZone ?? "UTC")
    const [from, to] = [smaller(idAt(first), idMax), smaller(idAt(next), idMax)]
    if (what.kind === "during" && negated) except.push({ above: from - 1n, below: to })
    if (what.kind === "during" && !negated) {
      above.push(from - 1n)
      below.push(to)
    }
    // Not before a day is from its beginning on, not after it is up to its end.
    if (what.kind === "before") negated ? above.push(from - 1n) : below.push(from)
    if (what.kind === "after") negated ? below.push(to) : above.push(to - 1n)
  }
  const largest = above.reduce((a, b) => a > b ? a : b)
  const smallest = below.reduce(smaller)
  return { above: largest < 0n ? undefined : largest, below: smallest === idMax ? undefined : smallest, except }
}
