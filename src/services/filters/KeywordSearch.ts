/*
 * Finds which of many keywords a text has, in one pass (Aho and Corasick, 1975): time grows with the length of the text and with
 * what is found, never with the number of keywords or with how they repeat themselves.
 */

/** Which keywords stand in a text, by their places among those that were given. */
interface KeywordSearch {
  readonly find: (text: string) => ReadonlyArray<number>
  /** What it takes in memory, about. */
  readonly bytes: number
}

/** Bytes of one state: six numbers, and its part of the keywords. */
const stateBytes = 32

interface State {
  /** The keywords, sorted, that begin with what leads here. */
  readonly from: number
  readonly to: number
  readonly depth: number
}

/** None of the keywords is empty; some may be equal. */
export const keywordSearch = (keywords: ReadonlyArray<string>): KeywordSearch => {
  const places = new Map<string, Array<number>>()
  keywords.forEach((keyword, place) => {
    const same = places.get(keyword)
    if (same === undefined) places.set(keyword, [place])
    else same.push(place)
  })
  const sorted = [...places.keys()].toSorted()

  // States stand in the order of their depth, the next ones of a state side by side and sorted.
  const states: Array<State> = [{ from: 0, to: sorted.length, depth: 0 }]
  const units: Array<number> = [0]
  const firstNext: Array<number> = []
  const parents: Array<number> = [0]
  const ends: Array<number> = []
  for (let state = 0; state < states.length; state++) {
    const { depth, from = 0, to = 0 } = states[state] ?? { depth: 0 }
    firstNext.push(states.length)
    const ending = sorted[from]?.length === depth && depth > 0
    ends.push(ending ? from : -1)
    for (let first = ending ? from + 1 : from; first < to;) {
      const unit = unitAt(sorted, first, depth)
      let last = first + 1
      while (last < to && unitAt(sorted, last, depth) === unit) last++
      states.push({ from: first, to: last, depth: depth + 1 })
      units.push(unit)
      parents.push(state)
      first = last
    }
  }
  const count = states.length
  const next = Int32Array.from([...firstNext, count])
  const unitOf = Uint16Array.from(units)
  const endOf = Int32Array.from(ends)

  /** The state after `unit`; 0 where no keyword goes on so. */
  const after = (state: number, unit: number): number => {
    let low = next[state] ?? 0
    let high = next[state + 1] ?? 0
    while (low < high) {
      const middle = (low + high) >> 1
      if ((unitOf[middle] ?? 0) < unit) low = middle + 1
      else high = middle
    }
    return low < (next[state + 1] ?? 0) && unitOf[low] === unit ? low : 0
  }
  const step = (from: number, unit: number): number => {
    for (let state = from;; state = fallback[state] ?? 0) {
      const found = after(state, unit)
      if (found !== 0 || state === 0) return found
    }
  }

  /** Where to go on when no keyword goes on: the longest end of what was read that is the beginning of one. */
  const fallback = new Int32Array(count)
  /** The longest keyword that ends where a state's own would, shorter than that; 0 is none. */
  const shorter = new Int32Array(count)
  for (let state = 1; state < count; state++) {
    const parent = parents[state] ?? 0
    const back = parent === 0 ? 0 : step(fallback[parent] ?? 0, unitOf[state] ?? 0)
    fallback[state] = back
    shorter[state] = (endOf[back] ?? -1) >= 0 ? back : shorter[back] ?? 0
  }

  const find = (text: string): ReadonlyArray<number> => {
    const found: Array<number> = []
    const seen = new Set<number>()
    let state = 0
    for (let at = 0; at < text.length; at++) {
      state = step(state, text.charCodeAt(at))
      // Whatever is shorter than one that was seen was seen with it.
      for (let end = (endOf[state] ?? -1) >= 0 ? state : shorter[state] ?? 0; end !== 0 && !seen.has(end);) {
        seen.add(end)
        found.push(...places.get(sorted[endOf[end] ?? 0] ?? "") ?? [])
        end = shorter[end] ?? 0
      }
    }
    return found
  }
  return { find, bytes: count * stateBytes + sorted.reduce((sum, { length }) => sum + 2 * length + 100, 0) }
}

const unitAt = (keywords: ReadonlyArray<string>, place: number, depth: number): number =>
  keywords[place]?.charCodeAt(depth) ?? 0
