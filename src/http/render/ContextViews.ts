import { Clock, Context, Effect, Layer } from "effect"
import type { HttpServerRequest } from "effect/http"
import { LRUCache } from "lru-cache"
import { Broadcast } from "../../services/Broadcast.ts"
import type { Unavailable } from "../../services/Errors.ts"
import { CustomEmojis } from "../../services/instance/CustomEmojis.ts"
import { Contexts } from "../../services/statuses/Contexts.ts"
import type { FoundStatus } from "../../services/statuses/Statuses.ts"
import { traced } from "../../services/Traced.ts"
import type { Viewer } from "../../services/Viewer.ts"
import { ExpensiveReads } from "../guard/ExpensiveReads.ts"
import { list, splice } from "../wire/Keys.ts"
import type { Context as WireContext } from "../wire/Status.ts"
import { makeChanges, onChanged } from "./Changes.ts"
import { cachedAloneMillisMax, cachedMillisMax } from "./JsonCache.ts"
import { StatusViews } from "./StatusViews.ts"

/** Bytes of contexts that are kept for visitors without an account. */
const contextCacheBytesMax = 32 * 1024 * 1024

interface Entry {
  readonly text: string
  readonly ids: ReadonlyArray<bigint>
  readonly authors: ReadonlySet<bigint>
  /** How many changes were known when it was begun. */
  readonly began: number
  readonly loadedAt: number
}

const bytesOf = ({ authors, ids, text }: Entry) => 2 * text.length + 16 * (ids.length + authors.size) + 100

/**
 * The threads of statuses as JSON. Visitors without an account all see the same thread, which is kept until one of its
 * statuses or their authors changes: an answer changes its parent, a deletion its status. The caller checks each time
 * that the status itself may be seen.
 */
export class ContextViews extends Context.Service<ContextViews, {
  readonly render: (
    viewer: Viewer,
    status: FoundStatus
  ) => Effect.Effect<string, Unavailable, HttpServerRequest.HttpServerRequest>
}>()("murmuration/http/render/ContextViews") {
  static readonly layer = Layer.effect(
    ContextViews,
    Effect.gen(function*() {
      const contexts = yield* Contexts
      const views = yield* StatusViews
      const places = yield* ExpensiveReads
      const emojis = yield* CustomEmojis
      const { connected } = yield* Broadcast
      const kept = new LRUCache<bigint, Entry>({ maxSize: contextCacheBytesMax, sizeCalculation: bytesOf })
      const [statuses, accounts] = [makeChanges(), makeChanges()]
      let changes = 0
      const clear = () => {
        changes++
        kept.clear()
      }
      yield* onChanged("status", (ids) => statuses.add(ids, ++changes))
      yield* onChanged("account", (ids) => accounts.add(ids, ++changes))
      yield* onChanged("user", (ids) => accounts.add(ids, ++changes))
      yield* onChanged("domains", clear)
      yield* emojis.whenChanged(clear)

      const make = Effect.fnUntraced(function*(viewer: Viewer, status: FoundStatus) {
        const began = changes
        const loadedAt = yield* Clock.currentTimeMillis
        const { ancestors, authors, descendants } = yield* contexts.of(viewer, status)
        const texts = yield* views.byId(viewer, [...ancestors, ...descendants], "permitted")
        const ready = (ids: ReadonlyArray<bigint>) => list(ids.flatMap((id) => texts.get(id) ?? []))
        const text = splice<WireContext, "ancestors" | "descendants">({}, {
          ancestors: ready(ancestors),
          descendants: ready(descendants)
        })
        return { text, ids: [status.id, ...ancestors, ...descendants], authors, began, loadedAt }
      })

      const isFresh = ({ authors, began, ids, loadedAt }: Entry, now: number, millisMax: number) =>
        now >= loadedAt && now - loadedAt < millisMax && ids.every((id) => statuses.of(id) <= began) &&
        [...authors].every((id) => accounts.of(id) <= began)

      const find = Effect.fnUntraced(function*(id: bigint) {
        const entry = kept.get(id)
        if (entry === undefined) return undefined
        const millisMax = (yield* connected) ? cachedMillisMax : cachedAloneMillisMax
        return isFresh(entry, yield* Clock.currentTimeMillis, millisMax) ? entry.text : undefined
      })

      /** Who waited for a place may find what somebody before made. */
      const open = Effect.fnUntraced(function*(status: FoundStatus) {
        const found = yield* find(status.id)
        if (found !== undefined) return found
        const made = yield* make(undefined, status)
        // A change that came meanwhile may not be in it.
        if (isFresh(made, made.loadedAt, cachedMillisMax)) kept.set(status.id, made)
        return made.text
      })

      const render = traced("ContextViews.render")(function*(viewer: Viewer, status: FoundStatus) {
        if (viewer !== undefined) return (yield* places.within(make(viewer, status))).text
        return (yield* find(status.id)) ?? (yield* places.within(open(status)))
      })
      return ContextViews.of({ render })
    })
  ).pipe(Layer.provide(ExpensiveReads.layer))
}
