import { boundedMap } from "../BoundedMap.ts"
import { sameTextMillis } from "./SpamFacts.ts"
import { decayedScore, scoreTotalMax } from "./SpamScores.ts"

/** Texts that are remembered during a run, accounts of one of them, and accounts and servers whose scores are. */
const textsMax = 100_000
const textAccountsMax = 200
const scoresMax = 100_000

interface Score {
  readonly score: number
  readonly at: number
}

/**
 * What a dry run finds out by itself as it goes from the oldest post to the newest: who said the same, and what the chain gave. So
 * scores are those that it would have given by then, beginning with none; what was given before its first post is not known.
 */
export const replayedFigures = () => {
  const said = boundedMap<bigint, Map<bigint, number>>(textsMax)
  const scores = boundedMap<string, Score>(scoresMax)
  const scoreAt = (key: string, at: number): number => {
    const known = scores.get(key)
    return known === undefined ? 0 : decayedScore(known.score, known.at, at)
  }
  return {
    /** Others who said the same within a day; what is said now is remembered. */
    sameText: (hash: bigint | undefined, accountId: bigint, at: number): number => {
      if (hash === undefined) return 0
      const others = said.get(hash) ?? new Map<bigint, number>()
      const count = [...others].filter(([id, when]) => id !== accountId && when > at - sameTextMillis).length
      if (others.size < textAccountsMax || others.has(accountId)) others.set(accountId, at)
      said.set(hash, others)
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
