import { Clock, Effect } from "effect"
import * as Cache from "../../services/caching/Cache.ts"
import { renderedRows } from "../../services/database/RenderedRows.ts"
import { CustomEmojis } from "../../services/instance/CustomEmojis.ts"
import { ServerConfig } from "../../services/instance/ServerConfig.ts"
import { Statuses } from "../../services/statuses/Statuses.ts"
import { bytesOf, prepare, type PreparedStatus, sourceOf } from "./StatusBodies.ts"

/** Maximum bytes of cached status bodies, two per character. */
const statusCacheBytesMax = 32 * 1024 * 1024

/**
 * Cache of status bodies without viewer-specific parts, until something in them changes.
 *
 * @fastPath@fastPath cached-json
 */
export const make = Effect.gen(function*() {
  const statuses = yield* Statuses
  const emojis = yield* CustomEmojis
  const config = yield* ServerConfig
  // Depends on moderation as well: staff may mark an account's posts as sensitive, and domain blocks remove files.
  const cache = yield* Cache.make<bigint, PreparedStatus>({
    rows: ({ card, key }, id) => [
      ["status", id],
      ["moderation", key.accountId],
      ...(card === undefined ? [] : [["card", card.id] as const]),
      ...(card?.creatorId === undefined ? [] : [["account", card.creatorId] as const])
    ],
    kinds: ["domains", "emojis"],
    max: { bytes: statusCacheBytesMax, bytesOf }
  })

  const load = Effect.fnUntraced(function*(missing: ReadonlyArray<bigint>) {
    const records = new Map((yield* statuses.load(missing)).map((record) => [record.id, record]))
    const named = yield* emojis.finderOf(Array.from(records.values(), sourceOf))
    const now = yield* Clock.currentTimeMillis
    return new Map(
      yield* renderedRows("status", records.values(), ({ id }) => id, (record) => {
        const original = record.reblogOfId === null ? undefined : records.get(record.reblogOfId)
        if (record.reblogOfId !== null && original === undefined) return undefined
        return [record.id, prepare(config, record, original, named, now)] as const
      })
    )
  })

  /** Returns the statuses and, for reblogs, their originals. */
  const bodies = Effect.fnUntraced(function*(ids: ReadonlyArray<bigint>, loading: typeof load = load) {
    const found = yield* cache.getAll(ids, loading)
    const originals = ids.flatMap((id) => found.get(id)?.key.original?.id ?? []).filter((id) => !found.has(id))
    return originals.length === 0 ? found : new Map([...found, ...yield* cache.getAll(originals, load)])
  })
  return { bodies, load }
})
