import { Struct } from "effect"
import { LRUCache } from "lru-cache"
import type { ViewerState } from "../../services/statuses/ViewerState.ts"
import type { JsonOf } from "../wire/Keys.ts"
import type { Status } from "../wire/Status.ts"
import { assemble, noFigures, type StatusParts } from "../wire/StatusJson.ts"

/** Maximum bytes of cached complete statuses. */
const composedCacheBytesMax = 32 * 1024 * 1024

/** Returns the names of all compared fields; the compiler reports one that is missing. */
const namesOf = <Name extends string>(names: Readonly<Record<Name, true>>) => Struct.keys(names)
const parts = namesOf<Exclude<keyof StatusParts, "figures" | "marks">>({
  account: true,
  application: true,
  approval: true,
  asks: true,
  body: true,
  card: true,
  collections: true,
  filtered: true,
  pinnable: true,
  policy: true,
  poll: true,
  quote: true,
  quoting: true,
  reactions: true,
  reblog: true
})
const figures = Struct.keys(noFigures)
/** Fields of a viewer's state that are compared here; its other fields are among the parts. */
const marks = namesOf<Exclude<keyof ViewerState, keyof typeof noFigures | "may" | "quoting" | "reactions" | "votes">>({
  bookmarked: true,
  favourited: true,
  muted: true,
  pinned: true,
  reblogged: true
})

/** Returns true if both have the same JSON. */
const hasSameJson = (one: StatusParts, other: StatusParts): boolean =>
  figures.every((name) => one.figures[name] === other.figures[name]) && areMarkedAlike(one.marks, other.marks) &&
  parts.every((name) => one[name] === other[name])

const areMarkedAlike = (one: ViewerState | undefined, other: ViewerState | undefined): boolean =>
  one === other || (one !== undefined && other !== undefined && marks.every((name) => one[name] === other[name]) &&
    one.votes.length === other.votes.length && one.votes.every((vote, at) => vote === other.votes[at]))

interface Composed {
  readonly parts: StatusParts
  readonly text: JsonOf<Status>
  bytes: Uint8Array | undefined
}

/**
 * Cache of complete statuses on pages, as the last viewer got them. Most viewers have not interacted with a status, so
 * they get the same JSON. Assembling and encoding it takes longer than the rest of a cached page. Not used for threads
 * and notifications, which are no status lists: comparing and caching cost more there than they saved.
 */
export const make = () => {
  const cache = new LRUCache<bigint, Composed>({
    maxSize: composedCacheBytesMax,
    // The text, its bytes, and the parts that nothing else holds.
    sizeCalculation: ({ text }) => text.length * 3 + 600
  })

  /** Returns the result of `assemble`; the cached text if the parts are equal. */
  const compose = (id: bigint, parts: StatusParts): JsonOf<Status> => {
    const before = cache.get(id)
    if (before !== undefined && hasSameJson(before.parts, parts)) return before.text
    const text = assemble(parts)
    cache.set(id, { parts, text, bytes: undefined })
    return text
  }

  /** Returns the text of a status in UTF-8. */
  const bytesOf = (id: bigint, text: JsonOf<Status>): Uint8Array => {
    const found = cache.get(id)
    return found?.text === text ? found.bytes ??= Buffer.from(text) : Buffer.from(text)
  }
  return { compose, bytesOf }
}
export type ComposedStatuses = ReturnType<typeof make>
