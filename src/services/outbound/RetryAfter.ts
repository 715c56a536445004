import { momentOf } from "../Moments.ts"

/** The longest that a host may make us wait, in seconds; it would be forgotten before it asks for more. */
const retryAfterSecondsMax = 7 * 24 * 3_600

/** `Retry-After` in seconds from `now` (milliseconds since 1970), given as seconds or as a date (RFC 9110 section 10.2.3). */
export const seconds = (header: string | undefined, now: number): number | undefined => {
  if (header === undefined) return undefined
  const until = momentOf(header)
  const given = /^\s*\d{1,9}\s*$/.test(header)
    ? Number(header)
    : until === undefined
    ? undefined
    : Math.ceil((until - now) / 1_000)
  return given === undefined ? undefined : Math.min(Math.max(0, given), retryAfterSecondsMax)
}
