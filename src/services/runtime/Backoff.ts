import { Effect, Random } from "effect"

/** Retry delays and maximum tries of one queue. */
export interface Backoff {
  /** Delay after the first failure, in milliseconds. */
  readonly baseMillis: number
  /**
   * Growth after each further failure: a factor on the previous delay, or `unitMillis` times a power of the failures
   * before.
   */
  readonly growth: { readonly factor: number } | { readonly power: number; readonly unitMillis: number }
  /** Random part of the growth, from 0 to 1, added at most. */
  readonly jitter: number
  /** Maximum delay, in milliseconds. */
  readonly capMillis: number
  /** Maximum tries; the work fails after the last one. */
  readonly triesMax: number
}

/** Returns the delay after the `tries`-th failure (from 1), in milliseconds; `chance` is from 0 to 1. */
export const delayMillis = (backoff: Backoff, tries: number, chance: number): number => {
  const { baseMillis, capMillis, growth, jitter } = backoff
  const before = Math.max(0, tries - 1)
  const grown = "factor" in growth
    ? baseMillis * (growth.factor ** before - 1)
    : growth.unitMillis * before ** growth.power
  return Math.min(capMillis, Math.round(baseMillis + grown * (1 + jitter * chance)))
}

/** Returns the delay after the `tries`-th failure, with jitter; undefined after the last try. */
export const next = (backoff: Backoff, tries: number): Effect.Effect<number | undefined> =>
  tries >= backoff.triesMax
    ? Effect.succeed(undefined)
    : backoff.jitter === 0
    ? Effect.succeed(delayMillis(backoff, tries, 0))
    : Effect.map(Random.next, (chance) => delayMillis(backoff, tries, chance))
