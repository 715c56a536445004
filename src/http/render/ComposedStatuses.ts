import { Struct } from "effect"
import { LRUCache } from "lru-cache"
import type { ViewerState } from "../../services/statuses/ViewerState.ts"
import type { Ready } from "../wire/Keys.ts"
import type { Status } from "../wire/Status.ts"
import { assemble, noFigures, type StatusParts } from "../wire/StatusJson.ts"

/** Bytes of statuses that are kept whole. */
const composedCacheBytesMax = 32 * 1024 * 1024

/** All names of what is compared; the compiler misses each that is left out. */
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
/** Of a viewer's state; what else it has is among the parts. */
const marks = namesOf<Exclude<keyof ViewerState, keyof typeof noFigures | "may" | "quoting" | "reactions" | "votes">>({
  bookmarked: true,
  favourited: true,
  muted: true,
  pinned: true,
  reblogged: true
})

/** Whether what was put together before of `one` is the JSON of `other`, too. */
const isAlike = (one: StatusParts, other: StatusParts): boolean =>
  figures.every((name) => one.figures[name] === other.figures[name]) && areMarkedAlike(one.marks, other.marks) &&
  parts.every((name) => one[name] === other[name])

const areMarkedAlike = (one: ViewerState | undefined, other: ViewerState | undefined): boolean =>
  one === other || (one !== undefined && other !== undefined && marks.every((name) => one[name] === other[name]) &&
    one.votes.length === other.votes.length && one.votes.every((vote, at) => vote === other.votes[at]))

interface Composed {
  readonly parts: StatusParts
  readonly text: Ready<Status>
  bytes: Uint8Array | undefined
}

/**
 * Statuses of pages as the last reader got them, whole. Most readers of a status have done nothing with it, and so get the
 * same; to put it together anew and to encode it takes longer than all else of a page that is cached. Not for threads and
 * notifications, which are no lists of statuses: to compare and to keep them cost more than it saved.
 */
export const make = () => {
  const kept = new LRUCache<bigint, Composed>({
    maxSize: composedCacheBytesMax,
    // The text, its bytes, and what the parts hold that nobody else does.
    sizeCalculation: ({ text }) => text.length * 3 + 600
  })

  /** What `assemble` gives, which is the same text as before where the parts are alike. */
  const compose = (id: bigint, parts: StatusParts): Ready<Status> => {
    const before = kept.get(id)
    if (before !== undefined && isAlike(before.parts, parts)) return before.text
    const text = assemble(parts)
    kept.set(id, { parts, text, bytes: undefined })
    return text
  }

  /** The text of a status in UTF-8. */
  const bytesOf = (id: bigint, text: Ready<Status>): Uint8Array => {
    const found = kept.get(id)
    return found?.text === text ? found.bytes ??= Buffer.from(text) : Buffer.from(text)
  }
  return { compose, bytesOf }
}
export type ComposedStatuses = ReturnType<typeof make>
