import { idAt, idMax } from "../database/Ids.ts"
import type { Page } from "../database/Paging.ts"
import { boundsOf } from "../runtime/Moments.ts"
import type { Moment, SearchQuery } from "./SearchQuery.ts"

/** Ids between `above` and `below`, except for the ranges in `except`. */
interface SearchedRange {
  readonly above: bigint | undefined
  readonly below: bigint | undefined
  readonly except: ReadonlyArray<{ readonly above: bigint; readonly below: bigint }>
}

/** Returns the moment's first millisecond, and the first one after it. */
const stretchOf = (moment: Moment, timeZone: string): readonly [number, number] =>
  moment.kind === "millis" ? [moment.millis, moment.millis + 1] : boundsOf(moment.date, timeZone)

const smaller = (a: bigint, b: bigint) => a < b ? a : b

/** Returns the ids that a query and its page select; days are in the viewer's time zone. */
export const idRangeOf = ({ operators }: SearchQuery, page: Page, timeZone: string | null): SearchedRange => {
  const above = [page.minId ?? page.sinceId ?? -1n]
  const below = [page.maxId ?? idMax]
  const except: Array<{ readonly above: bigint; readonly below: bigint }> = []
  for (const { negated, value } of operators) {
    if (value.kind !== "before" && value.kind !== "after" && value.kind !== "during") continue
    const [first, next] = stretchOf(value.moment, timeZone ?? "UTC")
    const [from, to] = [idAt(first), idAt(next)]
    if (value.kind === "during" && negated) except.push({ above: from - 1n, below: to })
    if (value.kind === "during" && !negated) {
      above.push(from - 1n)
      below.push(to)
    }
    // `-before:` selects from the start of the day, `-after:` up to its end.
    if (value.kind === "before" && negated) above.push(from - 1n)
    if (value.kind === "before" && !negated) below.push(from)
    if (value.kind === "after" && negated) below.push(to)
    if (value.kind === "after" && !negated) above.push(to - 1n)
  }
  const largest = above.reduce((a, b) => a > b ? a : b)
  const smallest = below.reduce(smaller)
  return { above: largest < 0n ? undefined : largest, below: smallest === idMax ? undefined : smallest, except }
}
