/** How the score of a kind rises and decays (limits-and-rates.md section 5). */
export interface Decay {
  /** Time after which a score is half of what it was, in milliseconds. */
  readonly halfLifeMillis: number
  /** What decayed below this score does not trend. */
  readonly scoreMin: number
}

/** Different accounts without which nothing trends. */
export const accountsMin = 5
/** How long the greatest score keeps smaller ones of the same use from counting anew, in milliseconds. */
export const maxScoreMillis = 2 * 86_400_000

const hour = 3_600_000
export const tagDecay: Decay = { halfLifeMillis: 4 * hour, scoreMin: 1 }
export const linkDecay: Decay = { halfLifeMillis: 8 * hour, scoreMin: 1 }
export const statusDecay: Decay = { halfLifeMillis: hour, scoreMin: 0.3 }

/** How surprising it is that so many accounts use something, where so many were expected. */
export const scoreOf = (observed: number, expected: number): number => {
  const before = Math.max(expected, 1)
  return observed < accountsMin || before > observed ? 0 : (observed - before) ** 2 / before
}

/** What is left of a score that was reached at a moment, in milliseconds since 1970. */
export const decayed = ({ halfLifeMillis }: Decay, score: number, reachedAt: number, now: number): number =>
  score * 0.5 ** (Math.max(0, now - reachedAt) / halfLifeMillis)

/** The greatest score that something had lately, and what it is now. */
export interface Score {
  readonly id: bigint
  readonly score: number
  readonly maxScore: number
  /** Milliseconds since 1970. */
  readonly maxScoreAt: number
}

/** How many accounts used something today and the day before, with the greatest score of it that is known. */
interface Used {
  readonly id: bigint
  readonly observed: number
  readonly expected: number
  readonly maxScore: number | null
  readonly maxScoreAt: Date | null
}

/** The score of something now. */
export const rising = (decay: Decay, used: Used, now: number): Score => {
  const { expected, id, maxScore, maxScoreAt, observed } = used
  const known = maxScore !== null && maxScoreAt !== null && now - maxScoreAt.getTime() < maxScoreMillis
  const before = known ? { maxScore, maxScoreAt: maxScoreAt.getTime() } : { maxScore: 0, maxScoreAt: now }
  const reached = scoreOf(observed, expected)
  const best = reached > before.maxScore ? { maxScore: reached, maxScoreAt: now } : before
  return { id, score: decayed(decay, best.maxScore, best.maxScoreAt, now), ...best }
}
