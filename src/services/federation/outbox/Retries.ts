/** How often a delivery is tried: usually, and where there is no hurry (federation.md section 12). */
export const triesMax = 16
export const lowTriesMax = 8

/**
 * How long after its `tries`-th failure (from 1) a delivery is tried again, in milliseconds: n^4 + 15 seconds and up to half
 * of n^4 more, n from 0; in all between 50 and 75 hours. `chance` is from 0 to 1.
 */
export const delayMillis = (tries: number, chance: number): number => {
  const power = Math.max(0, tries - 1) ** 4
  return Math.round((power + 15 + chance * power / 2) * 1_000)
}

/** Whether another try could have another outcome; `status` is the answer's (section 12). */
export const mayRetry = (status: number): boolean =>
  status === 401 || status === 408 || status === 429 || (status !== 501 && (status < 400 || status >= 500))
