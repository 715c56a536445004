import { boundedMap } from "../runtime/BoundedMap.ts"
import { sameTextMillis } from "./SpamFacts.ts"
import { decayedScore, scoreTotalMax } from "./SpamScores.ts"

/** Maximum texts that a run remembers, accounts per text, and accounts and servers with scores. */
const textsMax = 100_000
const textAccountsMax = 200
const scoresMax = 100_000

interface Score {
  readonly score: number
  readonly at: number
}

/**
 * Figures that a dry run collects from the oldest post to the newest: equal texts, and scores given by the chain.
 * Scores start at zero, as those before the first post are unknown.
 */
export const replayedFigures = () => {
  const authorsByText = boundedMap<bigint, Map<bigint, number>>(textsMax)
  const scores = boundedMap<string, Score>(scoresMax)
  const scoreAt = (key: string, at: number): number => {
    const known = scores.get(key)
    return known === undefined ? 0 : decayedScore(known.score, known.at, at)
  }
  return {
    /** Returns the number of other accounts that posted the same text within a day, and records this post. */
    sameText: (hash: bigint | undefined, accountId: bigint, at: number): number => {
      if (hash === undefined) return 0
      const others = authorsByText.get(hash) ?? new Map<bigint, number>()
      const count = [...others].filter(([id, when]) => id !== accountId && when > at - sameTextMillis).length
      if (others.size < textAccountsMax || others.has(accountId)) others.set(accountId, at)
      authorsByText.set(hash, others)
      return count
    },
    scoresOf: (accountId: bigint, domain: string | null, at: number) => ({
      score: scoreAt(`@${accountId}`, at),
      domainScore: domain === null ? 0 : scoreAt(domain, at)
    }),
    give: (accountId: bigint, domain: string | null, score: number, at: number): void => {
      if (score === 0) return
      for (const key of [`@${accountId}`, ...(domain === null ? [] : [domain])]) {
        scores.set(key, { score: Math.min(scoreTotalMax, score + scoreAt(key, at)), at })
      }
    }
  }
}
