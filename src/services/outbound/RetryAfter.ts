import { momentOf } from "../runtime/Moments.ts"

/** Maximum delay that a host may request, in seconds. */
const retryAfterSecondsMax = 7 * 24 * 3_600

/**
 * Parses `Retry-After` to seconds from `now` (milliseconds since 1970); given as seconds or as a date (RFC 9110 section
 * 10.2.3).
 */
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
