/** Maximum total of a score. */
export const scoreTotalMax = 1_000_000
/** Half-life of a score, in seconds. */
const halfSeconds = 7 * 86_400

/** SQL expression for the part of a score that is left at a time, from 0 to 1. */
export const decayed = (givenAt: string, at: string): string =>
  `power(0.5, greatest(0, least(1000, extract(epoch FROM (${at} - ${givenAt})) / ${halfSeconds})))::float8`

/** Returns the part of a score that is left at a time; times in milliseconds since 1970. */
export const decayedScore = (score: number, givenAt: number, at: number): number =>
  score * 0.5 ** (Math.max(0, at - givenAt) / 1_000 / halfSeconds)
