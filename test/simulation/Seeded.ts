/** A generator of numbers in [0, 1) that a seed fixes (mulberry32). */
export const generator = (seed: number) => {
  let state = seed | 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}

/** Draws from one stream of chance. */
export class Dice {
  readonly next: () => number

  /** Streams of one seed with different names know nothing of each other, so leaving one out changes no other. */
  constructor(seed: number, name: string) {
    let mixed = seed | 0
    for (let at = 0; at < name.length; at++) mixed = Math.imul(mixed ^ name.charCodeAt(at), 0x01000193)
    this.next = generator(mixed)
  }

  /** A whole number from `low` up to, not including, `high`. */
  between(low: number, high: number) {
    return low + Math.floor(this.next() * (high - low))
  }

  chance(probability: number) {
    return this.next() < probability
  }

  pick<A>(items: ReadonlyArray<A>): A {
    return items[this.between(0, items.length)]!
  }

  /** One of the choices, as often as its weight says. */
  weighted<A>(choices: ReadonlyArray<readonly [weight: number, choice: A]>): A {
    let left = this.next() * choices.reduce((sum, [weight]) => sum + weight, 0)
    return (choices.find(([weight]) => (left -= weight) < 0) ?? choices[0]!)[1]
  }
}
