import { Effect, Random } from "effect"

/** How long work that failed waits before it is tried again, and how often it is tried: each queue has its own numbers. */
export interface Backoff {
  /** The delay after the first failure, in milliseconds. */
  readonly baseMillis: number
  /** The delay after every further failure: so many times the one before, or `unitMillis` times a power of their number. */
  readonly growth: { readonly factor: number } | { readonly power: number; readonly unitMillis: number }
  /** The part of what it has grown by that chance adds at most, from 0 to 1. */
  readonly jitter: number
  /** The longest delay, in milliseconds. */
  readonly capMillis: number
  /** Tries in all; after the last one it has failed. */
  readonly triesMax: number
}

/** The delay after the `tries`-th failure (from 1), in milliseconds; `chance` is from 0 to 1. */
export const delayMillis = (backoff: Backoff, tries: number, chance: number): number => {
  const { baseMillis, capMillis, growth, jitter } = backoff
  const before = Math.max(0, tries - 1)
  const grown = "factor" in growth
    ? baseMillis * (growth.factor ** before - 1)
    : growth.unitMillis * before ** growth.power
  return Math.min(capMillis, Math.round(baseMillis + grown * (1 + jitter * chance)))
}

/** The delay after the `tries`-th failure, with chance; undefined where it was the last try. */
export const next = (backoff: Backoff, tries: number): Effect.Effect<number | undefined> =>
  tries >= backoff.triesMax
    ? Effect.succeed(undefined)
    : backoff.jitter === 0
    ? Effect.succeed(delayMillis(backoff, tries, 0))
    : Effect.map(Random.next, (chance) => delayMillis(backoff, tries, chance))
