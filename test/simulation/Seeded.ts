/** A seeded generator of numbers in [0, 1) (mulberry32). */
export const generator = (seed: number) => {
  let state = seed | 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}

/** Draws from one random stream. */
export class Dice {
  readonly next: () => number

  /** Streams of one seed with different names are independent, so removing one changes no other. */
  constructor(seed: number, name: string) {
    let mixed = seed | 0
    for (let at = 0; at < name.length; at++) mixed = Math.imul(mixed ^ name.charCodeAt(at), 0x01000193)
    this.next = generator(mixed)
  }

  /** Returns an integer from `low` (inclusive) to `high` (exclusive). */
  between(low: number, high: number) {
    return low + Math.floor(this.next() * (high - low))
  }

  chance(probability: number) {
    return this.next() < probability
  }

  pick<A>(items: ReadonlyArray<A>): A {
    return items[this.between(0, items.length)]!
  }

  /** Picks one of the choices by weight. */
  weighted<A>(choices: ReadonlyArray<readonly [weight: number, choice: A]>): A {
    let left = this.next() * choices.reduce((sum, [weight]) => sum + weight, 0)
    return (choices.find(([weight]) => (left -= weight) < 0) ?? choices[0]!)[1]
  }
}
