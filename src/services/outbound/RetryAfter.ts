/** The longest that a host may make us wait, in seconds; it would be forgotten before it asks for more. */
export const retryAfterSecondsMax = 7 * 24 * 3_600

/** `Retry-After` in seconds from `now` (milliseconds since 1970), given as seconds or as a date (RFC 9110 section 10.2.3). */
export const seconds = (header: string | undefined, now: number): number | undefined => {
  if (header === undefined) return undefined
  const given = /^\s*\d{1,9}\s*$/.test(header) ? Number(header) : Math.ceil((Date.parse(header) - now) / 1_000)
  return Number.isNaN(given) ? undefined : Math.min(Math.max(0, given), retryAfterSecondsMax)
}
