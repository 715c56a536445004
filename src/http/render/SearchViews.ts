import { Context, Effect, Layer } from "effect"
import { ServerConfig } from "../../services/instance/ServerConfig.ts"
import { renderedRows } from "../../services/RenderedRows.ts"
import { FeaturedTags } from "../../services/statuses/FeaturedTags.ts"
import { Tags } from "../../services/statuses/Tags.ts"
import { traced } from "../../services/Traced.ts"
import type { Viewer } from "../../services/Viewer.ts"
import { json, list, type Ready, splice } from "../wire/Keys.ts"
import type { Search } from "../wire/Search.ts"
import type { Tag } from "../wire/Tag.ts"
import { AccountViews } from "./AccountViews.ts"
import { StatusViews } from "./StatusViews.ts"
import { noTagRelation, tagValues } from "./Values.ts"

/** Ids of what a search has found, best first. */
export interface FoundIds {
  readonly accounts?: ReadonlyArray<bigint>
  readonly statuses?: ReadonlyArray<bigint>
  readonly tags?: ReadonlyArray<bigint>
}

/** Results of searches as ready JSON. Statuses that the viewer may not see are left out here, too. */
export class SearchViews extends Context.Service<SearchViews, {
  readonly render: (viewer: Viewer, found: FoundIds) => Effect.Effect<Ready<Search>>
}>()("murmuration/http/render/SearchViews") {
  static readonly layerNoDeps = Layer.effect(
    SearchViews,
    Effect.gen(function*() {
      const accounts = yield* AccountViews
      const statuses = yield* StatusViews
      const featured = yield* FeaturedTags
      const tags = yield* Tags
      const config = yield* ServerConfig

      const render = traced("SearchViews.render")(function*(viewer: Viewer, found: FoundIds) {
        const hashtags = yield* tags.load(found.tags ?? [])
        const features = viewer === undefined ? undefined : yield* featured.among(viewer, found.tags ?? [])
        const relationTo = (id: bigint | undefined) =>
          features && { ...noTagRelation, featuring: id !== undefined && features.has(id) }
        return splice<Search, "accounts" | "statuses" | "hashtags" | "collections">({}, {
          accounts: list(yield* accounts.render(found.accounts ?? [])),
          statuses: list(yield* statuses.render(viewer, found.statuses ?? [])),
          hashtags: list(
            yield* renderedRows(
              "hashtag",
              hashtags,
              ({ name }) => name,
              (tag) => json<Tag>(tagValues(config, tag, relationTo(tag.id)))
            )
          ),
          collections: list([])
        })
      })
      return SearchViews.of({ render })
    })
  )
  static readonly layer = SearchViews.layerNoDeps.pipe(Layer.provide([AccountViews.layer, StatusViews.layer]))
}
