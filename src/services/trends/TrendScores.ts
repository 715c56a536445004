/** Decay of scores of one kind (limits-and-rates.md section 5). */
export interface Decay {
  /** Time after which a score is halved, in milliseconds. */
  readonly halfLifeMillis: number
  /** Minimum score to trend. */
  readonly scoreMin: number
}

/** Minimum different accounts to trend. */
export const accountsMin = 5
/** Time for which a maximum score is kept, in milliseconds; lower scores do not replace it. */
export const maxScoreMillis = 2 * 86_400_000

const hour = 3_600_000
export const tagDecay: Decay = { halfLifeMillis: 4 * hour, scoreMin: 1 }
export const linkDecay: Decay = { halfLifeMillis: 8 * hour, scoreMin: 1 }
export const statusDecay: Decay = { halfLifeMillis: hour, scoreMin: 0.3 }

/** Returns how far the observed number of accounts exceeds the expected one. */
export const scoreOf = (observed: number, expected: number): number => {
  const before = Math.max(expected, 1)
  return observed < accountsMin || before > observed ? 0 : (observed - before) ** 2 / before
}

/** Returns the rest of a score that was reached at a time, in milliseconds since 1970. */
export const decayed = ({ halfLifeMillis }: Decay, score: number, reachedAt: number, now: number): number =>
  score * 0.5 ** (Math.max(0, now - reachedAt) / halfLifeMillis)

/** Recent maximum score and current score. */
export interface Score {
  readonly id: bigint
  readonly score: number
  readonly maxScore: number
  /** Milliseconds since 1970. */
  readonly maxScoreAt: number
}

/** Number of accounts today and yesterday, with the stored maximum score. */
interface Used {
  readonly id: bigint
  readonly observed: number
  readonly expected: number
  readonly maxScore: number | null
  readonly maxScoreAt: Date | null
}

/** Returns the current score. */
export const currentScore = (decay: Decay, used: Used, now: number): Score => {
  const { expected, id, maxScore, maxScoreAt, observed } = used
  const known = maxScore !== null && maxScoreAt !== null && now - maxScoreAt.getTime() < maxScoreMillis
  const before = known ? { maxScore, maxScoreAt: maxScoreAt.getTime() } : { maxScore: 0, maxScoreAt: now }
  const reached = scoreOf(observed, expected)
  const best = reached > before.maxScore ? { maxScore: reached, maxScoreAt: now } : before
  return { id, score: decayed(decay, best.maxScore, best.maxScoreAt, now), ...best }
}
