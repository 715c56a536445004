import { Dice } from "../simulation/Seeded.ts"

/** The same load on two checkouts, one straight after the other. */
export interface Pair {
  readonly before: number
  readonly after: number
}

/** What `after` takes of `before`: 1 is as much, 1.05 is 5% more. */
export interface Change {
  /** The median over all pairs. */
  readonly ratio: number
  /** Where that median lies 95 times of 100 when starts and their pairs are drawn anew. */
  readonly low: number
  readonly high: number
  /** Of all that was used in all pairs; one pair that was disturbed moves it, and so does what few pairs pay for all. */
  readonly whole: number
}

const draws = 2_000

/** The middle of the values, between the two middle ones where their number is even; by ratio, so that no side wins. */
export const middle = (values: ReadonlyArray<number>): number => {
  const sorted = values.toSorted((a, b) => a - b)
  const at = (index: number) => sorted[index] ?? Number.NaN
  const [low, high] = [Math.ceil(sorted.length / 2) - 1, Math.floor(sorted.length / 2)]
  return low === high ? at(low) : Math.sqrt(at(low) * at(high))
}

/** Of nothing there is no part. */
const ratiosOf = (pairs: ReadonlyArray<Pair>) =>
  pairs.filter(({ before }) => before > 0).map(({ after, before }) => after / before)
const sum = (values: ReadonlyArray<number>) => values.reduce((all, value) => all + value, 0)

/**
 * The change that pairs show, which were measured in several starts of both servers. A process may be fast or slow from
 * its start to its end, so that the interval draws whole starts before it draws pairs of them.
 */
export const change = (starts: ReadonlyArray<ReadonlyArray<Pair>>, seed = 1): Change => {
  const ratios = starts.map(ratiosOf)
  const dice = new Dice(seed, "ratios")
  const drawn = Array.from({ length: draws }, () =>
    middle(ratios.flatMap(() => {
      const start = dice.pick(ratios)
      return start.map(() => dice.pick(start))
    }))).toSorted((a, b) => a - b)
  const pairs = starts.flat()
  return {
    ratio: middle(ratios.flat()),
    low: drawn[Math.floor(draws * 0.025)] ?? Number.NaN,
    high: drawn[Math.ceil(draws * 0.975) - 1] ?? Number.NaN,
    whole: sum(pairs.map(({ after }) => after)) / sum(pairs.map(({ before }) => before))
  }
}
