import { Clock, Context, Effect, Layer } from "effect"
import { TooManyRequests } from "../../services/runtime/Errors.ts"
import { hashedKey } from "../../services/secrets/HashedKey.ts"

/** Uses per period; periods are aligned to the clock (limits-and-rates.md section 3). */
interface Limit {
  readonly uses: number
  readonly seconds: number
}

/** All HTTP rate limits, by name; command families, such as statuses in 3 hours, are limited by the account's actor. */
export const limits = {
  apiUser: { uses: 1500, seconds: 300 },
  apiToken: { uses: 300, seconds: 300 },
  apiAddress: { uses: 300, seconds: 300 },
  paging: { uses: 300, seconds: 900 },
  media: { uses: 30, seconds: 1800 },
  deletion: { uses: 30, seconds: 1800 },
  signUp: { uses: 5, seconds: 1800 },
  apps: { uses: 5, seconds: 600 },
  confirmationAddress: { uses: 25, seconds: 300 },
  confirmationUser: { uses: 5, seconds: 1800 },
  signInAddress: { uses: 25, seconds: 300 },
  signInEmail: { uses: 25, seconds: 3600 },
  // Two-factor codes, and the password when asked again: 10 guesses in half an hour, at one of a million codes.
  secondFactorAddress: { uses: 25, seconds: 300 },
  secondFactorUser: { uses: 10, seconds: 1800 },
  // Accounts that a user names as aliases or as the target of a move: each may be fetched from its server.
  accountLookups: { uses: 30, seconds: 1800 },
  mailAddress: { uses: 25, seconds: 300 },
  mailEmail: { uses: 5, seconds: 1800 },
  // Files that are fetched on request, avatars included; cached copies cost nothing.
  remoteFiles: { uses: 300, seconds: 600 },
  // Handles of visitors who continue on their own server: each is looked up there.
  remoteInteractions: { uses: 30, seconds: 1800 },
  appealAddress: { uses: 10, seconds: 600 },
  // Actions of a moderator on the staff pages.
  staffActs: { uses: 600, seconds: 300 },
  passwordChange: { uses: 10, seconds: 600 },
  // Stored responses to forms of visitors (html/FormResponses), by address and of all: at most 64 MB per period.
  formPagesAddress: { uses: 20, seconds: 900 },
  formPages: { uses: 1_000, seconds: 900 },
  // Paths outside of the API (guard/PathLimits): HTML pages, and documents that programs fetch by the dozen.
  pageAddress: { uses: 300, seconds: 300 },
  staffAddress: { uses: 1_500, seconds: 300 },
  // Pages that a browser with a session cookie requests: many members may share an address.
  memberAddress: { uses: 6_000, seconds: 300 },
  documentAddress: { uses: 3_000, seconds: 300 },
  streamAddress: { uses: 1_000, seconds: 300 },
  fileAddress: { uses: 6_000, seconds: 300 },
  federationAddress: { uses: 30_000, seconds: 300 }
} satisfies Record<string, Limit>
export type LimitName = keyof typeof limits

/**
 * A use of a limit. The key is a user's id, a token's id, an address (IPv6 by /64) or an e-mail address, of any length.
 */
export interface Claim {
  readonly limit: LimitName
  readonly key: string
}

const pagingParameter = /[?&](page|min_id|max_id|since_id)=/

/** Returns the claim of a request for a further page of a list, by its URL; none for other requests. */
export const pagingClaims = (url: string, key: string): ReadonlyArray<Claim> =>
  pagingParameter.test(url) ? [{ limit: "paging", key }] : []

/** State of a limit after a use; `resetAt` is in milliseconds since 1970. */
export interface Quota {
  readonly limit: number
  readonly remaining: number
  readonly resetAt: number
}

/** Maximum keys per limit in a process, about 200 bytes each; beyond it the oldest are evicted. */
export const limitKeysMax = 20_000

/** Current period of a claim: an id of bounded length, its end in milliseconds since 1970, and its limit of uses. */
interface Period {
  readonly limit: LimitName
  readonly id: string
  readonly expiresAt: number
  readonly uses: number
}

/** Counts a use of each period in turn, up to the first that is exhausted. Returns the counts, including that one's. */
export type Count = (periods: ReadonlyArray<Period>) => Effect.Effect<ReadonlyArray<number>>

/**
 * Rate limits. `spend` counts a use of every claim in turn, and returns the quota with the least remaining. It stops at
 * the first exhausted claim, so that a refused caller does not use up limits shared with others (an e-mail address).
 */
export class Limits extends Context.Service<Limits, {
  readonly spend: (claims: ReadonlyArray<Claim>) => Effect.Effect<Quota, TooManyRequests>
}>()("murmuration/http/guard/Limits") {
  /** Builds the limits on a counter. */
  static readonly make = (count: Count) =>
    Limits.of({
      spend: Effect.fnUntraced(function*(claims) {
        const now = yield* Clock.currentTimeMillis
        const periods = claims.map(({ key, limit }): Period => {
          const { seconds, uses } = limits[limit]
          const index = Math.floor(now / (seconds * 1000))
          return { limit, id: `${limit}:${hashedKey(key)}:${index}`, expiresAt: (index + 1) * seconds * 1000, uses }
        })
        const used = yield* count(periods)
        let least: Quota = { limit: Number.MAX_SAFE_INTEGER, remaining: Number.MAX_SAFE_INTEGER, resetAt: now }
        for (const [at, { expiresAt, uses }] of periods.entries()) {
          const remaining = uses - (used[at] ?? 0)
          if (remaining < 0) return yield* new TooManyRequests({ limit: uses, resetAt: expiresAt })
          if (remaining < least.remaining) least = { limit: uses, remaining, resetAt: expiresAt }
        }
        return least
      })
    })

  static readonly layerMemory = Layer.sync(Limits, () => Limits.make(countInMemory()))

  /** Unlimited (`RATE_LIMITS=off`). */
  static readonly layerOff = Layer.succeed(Limits, {
    spend: () =>
      Effect.map(Clock.currentTimeMillis, (now) => ({
        limit: 1_000_000,
        remaining: 1_000_000,
        resetAt: now - now % 300_000 + 300_000
      }))
  })
}

/** Counts in this process; also a node's fallback while Redis is down, so that guesses stay limited. */
export const countInMemory = (): Count => {
  // Each limit has its own map, so that a flood of one kind of key evicts no counters of another.
  const all = new Map<LimitName, Map<string, Counter>>()
  const use = ({ expiresAt, id, limit }: Period, now: number): number => {
    const counters = all.get(limit) ?? new Map<string, Counter>()
    all.set(limit, counters)
    const counter = counters.get(id)
    if (counter !== undefined) return ++counter.used
    for (const [old, { expiresAt }] of counters) {
      if (expiresAt > now && counters.size < limitKeysMax) break
      counters.delete(old)
    }
    counters.set(id, { used: 1, expiresAt })
    return 1
  }
  return (periods) =>
    Effect.map(Clock.currentTimeMillis, (now) => {
      const counts: Array<number> = []
      for (const period of periods) {
        const used = use(period, now)
        counts.push(used)
        if (used > period.uses) break
      }
      return counts
    })
}

interface Counter {
  used: number
  readonly expiresAt: number
}
