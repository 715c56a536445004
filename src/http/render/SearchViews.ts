import { Context, Effect, Layer } from "effect"
import { traced } from "../../services/runtime/Traced.ts"
import type { Viewer } from "../../services/visibility/Viewer.ts"
import { type JsonOf, list, withMembers } from "../wire/Keys.ts"
import type { Search } from "../wire/Search.ts"
import { AccountViews } from "./AccountViews.ts"
import { CollectionViews } from "./CollectionViews.ts"
import * as FeatureApprovals from "./FeatureApprovals.ts"
import { StatusViews } from "./StatusViews.ts"
import { TagViews } from "./TagViews.ts"

/** Ids of search results, best first. */
export interface FoundIds {
  readonly accounts?: ReadonlyArray<bigint>
  readonly statuses?: ReadonlyArray<bigint>
  readonly tags?: ReadonlyArray<bigint>
  readonly collections?: ReadonlyArray<bigint>
}

/** Search results as serialised JSON, without statuses that the viewer may not see. */
export class SearchViews extends Context.Service<SearchViews, {
  readonly render: (viewer: Viewer, found: FoundIds) => Effect.Effect<JsonOf<Search>>
}>()("murmuration/http/render/SearchViews") {
  static readonly layerNoDeps = Layer.effect(
    SearchViews,
    Effect.gen(function*() {
      const accounts = yield* FeatureApprovals.make
      const collections = yield* CollectionViews
      const statuses = yield* StatusViews
      const tags = yield* TagViews

      const shownCollections = Effect.fnUntraced(function*(viewer: Viewer, ids: ReadonlyArray<bigint>) {
        const shown = yield* collections.byId(viewer, ids)
        return ids.flatMap((id) => shown.get(id) ?? [])
      })

      const render = traced("SearchViews.render")(function*(viewer: Viewer, found: FoundIds) {
        return withMembers<Search, "accounts" | "statuses" | "hashtags" | "collections">({}, {
          accounts: list(yield* accounts.render(viewer, found.accounts ?? [])),
          statuses: list(yield* statuses.render(viewer, found.statuses ?? [])),
          hashtags: list(yield* tags.render(viewer, found.tags ?? [])),
          collections: list(yield* shownCollections(viewer, found.collections ?? []))
        })
      })
      return SearchViews.of({ render })
    })
  )
  static readonly layer = SearchViews.layerNoDeps.pipe(
    Layer.provide([AccountViews.layer, CollectionViews.layer, StatusViews.layer, TagViews.layer])
  )
}
