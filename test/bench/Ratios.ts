import { Dice } from "../simulation/Seeded.ts"

/** Costs of the same load on two checkouts, measured directly after each other. */
export interface Pair {
  readonly before: number
  readonly after: number
}

/** Ratio of `after` to `before`: 1 is equal, 1.05 is 5% more. */
export interface Change {
  /** The median over all pairs. */
  readonly ratio: number
  /** Bounds of the median's 95% bootstrap interval over starts and their pairs. */
  readonly low: number
  readonly high: number
  /** Ratio of the totals of all pairs. Sensitive to a disturbed pair, and to costs that occur in few pairs. */
  readonly whole: number
}

const draws = 2_000

/**
 * Returns the median; for an even count, the geometric mean of the two middle values, so that swapping the sides gives
 * the inverse.
 */
export const middle = (values: ReadonlyArray<number>): number => {
  const sorted = values.toSorted((a, b) => a - b)
  const at = (index: number) => sorted[index] ?? Number.NaN
  const [low, high] = [Math.ceil(sorted.length / 2) - 1, Math.floor(sorted.length / 2)]
  return low === high ? at(low) : Math.sqrt(at(low) * at(high))
}

/** Skips pairs without usage before, which have no ratio. */
const ratiosOf = (pairs: ReadonlyArray<Pair>) =>
  pairs.filter(({ before }) => before > 0).map(({ after, before }) => after / before)
const sum = (values: ReadonlyArray<number>) => values.reduce((all, value) => all + value, 0)

/**
 * Returns the change shown by pairs from several starts of both servers. A process may be fast or slow for its whole
 * life, so the interval resamples whole starts, then their pairs.
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
