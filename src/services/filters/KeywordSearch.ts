/*
 * Multi-keyword search in one pass (Aho and Corasick, 1975). Time grows with the text's length and the number of
 * matches, never with the number of keywords or their repetition.
 */

/** Finds the keywords that a text contains, by their indexes. */
interface KeywordSearch {
  readonly find: (text: string) => ReadonlyArray<number>
  /** Approximate memory use, in bytes. */
  readonly bytes: number
}

/** Bytes of one state: six numbers, and its share of the keywords. */
const stateBytes = 32

interface State {
  /** Range of the sorted keywords with this state's prefix. */
  readonly from: number
  readonly to: number
  readonly depth: number
}

/** Builds the search; no keyword may be empty, some may be equal. */
export const keywordSearch = (keywords: ReadonlyArray<string>): KeywordSearch => {
  const places = new Map<string, Array<number>>()
  keywords.forEach((keyword, place) => {
    const same = places.get(keyword)
    if (same === undefined) places.set(keyword, [place])
    else same.push(place)
  })
  const sorted = [...places.keys()].toSorted()

  // States are in order of depth; the successors of a state are adjacent and sorted.
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

  /** Returns the state after `unit`; 0 if no keyword continues that way. */
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

  /** State to fall back to: the longest suffix of the input that is a prefix of a keyword. */
  const fallback = new Int32Array(count)
  /** State of the longest shorter keyword that ends at the same place; 0 for none. */
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
      // All shorter keywords of a state were reported when it was first seen.
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
