/** The most that a score comes to. */
export const scoreTotalMax = 1_000_000
/** After what time a score counts half, in seconds. */
const halfSeconds = 7 * 86_400

/** In SQL: what is left at a time of what was given at another one, as a factor of 1 at most. */
export const decayed = (givenAt: string, at: string): string =>
  `power(0.5, greatest(0, least(1000, extract(epoch FROM (${at} - ${givenAt})) / ${halfSeconds})))::float8`

/** The same in code, of times in milliseconds since 1970. */
export const decayedScore = (score: number, givenAt: number, at: number): number =>
  score * 0.5 ** (Math.max(0, at - givenAt) / 1_000 / halfSeconds)
