/** After what time a score counts half, in seconds. */
const halfSeconds = 7 * 86_400

/** In SQL: what is left at a time of what was given at another one, as a factor of 1 at most. */
export const decayed = (givenAt: string, at: string): string =>
  `power(0.5, greatest(0, least(1000, extract(epoch FROM (${at} - ${givenAt})) / ${halfSeconds})))::float8`
