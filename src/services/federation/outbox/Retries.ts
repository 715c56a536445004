import type { Backoff } from "../../Backoff.ts"

/**
 * A delivery that fails is tried 16 times more: n^4 + 15 seconds and up to half of n^4 more after each failure, n from 0; in all
 * between 49 and 75 hours (federation.md section 12).
 */
export const deliveryBackoff: Backoff = {
  baseMillis: 15_000,
  growth: { power: 4, unitMillis: 1_000 },
  jitter: 0.5,
  capMillis: 24 * 3_600_000,
  triesMax: 17
}

/** The same where there is no hurry. */
export const lowDeliveryBackoff: Backoff = { ...deliveryBackoff, triesMax: 9 }

/** Whether another try could have another outcome; `status` is the answer's (section 12). */
export const mayRetry = (status: number): boolean =>
  status === 401 || status === 408 || status === 429 || (status !== 501 && (status < 400 || status >= 500))
