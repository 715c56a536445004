import { LRUCache } from "lru-cache"
import type { Ready } from "../wire/Keys.ts"
import type { Status } from "../wire/Status.ts"
import { assemble, isAlike, type StatusParts } from "../wire/StatusJson.ts"

/** Bytes of statuses that are kept whole. */
const composedCacheBytesMax = 32 * 1024 * 1024

interface Composed {
  readonly parts: StatusParts
  readonly text: Ready<Status>
  bytes: Uint8Array | undefined
}

/**
 * Statuses as the last reader got them, whole. Most readers of a status have done nothing with it, and so get the same; to put
 * it together anew and to encode it takes longer than all else of a page that is cached.
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
