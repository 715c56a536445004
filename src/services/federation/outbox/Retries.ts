import type { Backoff } from "../../runtime/Backoff.ts"

/**
 * Backoff of a failed delivery: 16 retries. After failure n, from 0, the delay is n^4 + 15 seconds, and up to half of
 * n^4 more; in total between 49 and 75 hours (federation.md section 12).
 */
export const deliveryBackoff: Backoff = {
  baseMillis: 15_000,
  growth: { power: 4, unitMillis: 1_000 },
  jitter: 0.5,
  capMillis: 24 * 3_600_000,
  triesMax: 17
}

/** Backoff of low-priority deliveries. */
export const lowDeliveryBackoff: Backoff = { ...deliveryBackoff, triesMax: 9 }

/** Returns true if a retry may succeed, by the response's `status` (section 12). */
export const mayRetry = (status: number): boolean =>
  status === 401 || status === 408 || status === 429 || (status !== 501 && (status < 400 || status >= 500))
