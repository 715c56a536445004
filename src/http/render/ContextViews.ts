import { Context, Effect, Layer } from "effect"
import type { HttpServerRequest } from "effect/http"
import * as Cache from "../../services/caching/Cache.ts"
import { Changes } from "../../services/caching/Changes.ts"
import type { Unavailable } from "../../services/runtime/Errors.ts"
import { traced } from "../../services/runtime/Traced.ts"
import { Contexts } from "../../services/statuses/Contexts.ts"
import type { FoundStatus } from "../../services/statuses/Statuses.ts"
import type { Viewer } from "../../services/visibility/Viewer.ts"
import { ExpensiveReads } from "../guard/ExpensiveReads.ts"
import { type JsonOf, list, withMembers } from "../wire/Keys.ts"
import type { Context as WireContext, Status } from "../wire/Status.ts"
import { StatusViews } from "./StatusViews.ts"

/** Maximum bytes of cached contexts for anonymous visitors. */
const contextCacheBytesMax = 32 * 1024 * 1024
/**
 * Maximum characters of the statuses above or below in a context, and how many are rendered before they are counted.
 */
const contextCharactersMax = 8 * 1024 * 1024
const renderedAtOnceMax = 512

interface Entry {
  readonly text: JsonOf<WireContext>
  readonly ids: ReadonlyArray<bigint>
  readonly authors: ReadonlySet<bigint>
}

/** Returns the size of an entry: two bytes per character, and its dependencies. */
const bytesOf = ({ authors, ids, text }: Entry) => 2 * text.length + 64 * (ids.length + 2 * authors.size) + 100
const rowsOf = ({ authors, ids }: Entry): ReadonlyArray<Cache.Dependency> => [
  ...ids.map((id) => ["status", id] as const),
  ...Array.from(authors, (id) => ["account", id] as const),
  ...Array.from(authors, (id) => ["user", id] as const)
]

/**
 * Threads of statuses as JSON. All anonymous visitors see the same thread, which is cached until one of its statuses or
 * authors changes: a reply changes its parent, a deletion its status. The caller checks each time that the status
 * itself may be seen.
 */
export class ContextViews extends Context.Service<ContextViews, {
  readonly render: (
    viewer: Viewer,
    status: FoundStatus
  ) => Effect.Effect<JsonOf<WireContext>, Unavailable, HttpServerRequest.HttpServerRequest>
  /** Like `render`, for a caller that has a slot of `ExpensiveReads` already. */
  readonly renderInSlot: (viewer: Viewer, status: FoundStatus) => Effect.Effect<JsonOf<WireContext>>
}>()("murmuration/http/render/ContextViews") {
  static readonly layerNoDeps = Layer.effect(
    ContextViews,
    Effect.gen(function*() {
      const contexts = yield* Contexts
      const views = yield* StatusViews
      const places = yield* ExpensiveReads
      const cache = yield* Cache.make<bigint, Entry>({
        rows: rowsOf,
        kinds: ["domains", "emojis", "moderation"],
        max: { bytes: contextCacheBytesMax, bytesOf }
      })

      /** Renders the first statuses up to the limit: a thread may have thousands of posts of maximum size. */
      const fitting = Effect.fnUntraced(function*(viewer: Viewer, ids: ReadonlyArray<bigint>) {
        const shown: Array<JsonOf<Status>> = []
        let left = contextCharactersMax
        for (let at = 0; at < ids.length && left > 0; at += renderedAtOnceMax) {
          const some = ids.slice(at, at + renderedAtOnceMax)
          const texts = yield* views.byId(viewer, some, "permitted", "thread")
          for (const text of some.flatMap((id) => texts.get(id) ?? [])) {
            left -= text.length
            if (left > 0) shown.push(text)
          }
        }
        return shown
      })

      const make = Effect.fnUntraced(function*(viewer: Viewer, status: FoundStatus) {
        const { ancestors, authors, descendants } = yield* contexts.of(viewer, status)
        const [above, below] = [yield* fitting(viewer, ancestors.toReversed()), yield* fitting(viewer, descendants)]
        const text = withMembers<WireContext, "ancestors" | "descendants">({}, {
          ancestors: list(above.toReversed()),
          descendants: list(below)
        })
        return { text, ids: [status.id, ...ancestors, ...descendants], authors }
      })

      const render = traced("ContextViews.render")(function*(viewer: Viewer, status: FoundStatus) {
        if (viewer !== undefined) return (yield* places.within(make(viewer, status))).text
        // A visitor who waited for a slot may find what an earlier one rendered.
        const known = yield* cache.find(status.id)
        return (known ?? (yield* places.within(cache.get(status.id, make(undefined, status))))).text
      })
      const renderInSlot = traced("ContextViews.renderInSlot")((viewer: Viewer, status: FoundStatus) =>
        Effect.map(
          viewer === undefined ? cache.get(status.id, make(undefined, status)) : make(viewer, status),
          ({ text }) => text
        )
      )
      return ContextViews.of({ render, renderInSlot })
    })
  ).pipe(Layer.provide(Changes.layer))
  static readonly layer = ContextViews.layerNoDeps.pipe(Layer.provide([StatusViews.layer, ExpensiveReads.layer]))
}
