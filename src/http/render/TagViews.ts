import { Context, Effect, Layer } from "effect"
import { renderedRows } from "../../services/database/RenderedRows.ts"
import { ServerConfig } from "../../services/instance/ServerConfig.ts"
import { traced } from "../../services/runtime/Traced.ts"
import { FeaturedTags } from "../../services/statuses/FeaturedTags.ts"
import { TagFollows } from "../../services/statuses/TagFollows.ts"
import { type TagRecord, Tags } from "../../services/statuses/Tags.ts"
import type { Viewer } from "../../services/visibility/Viewer.ts"
import { json, type JsonOf } from "../wire/Keys.ts"
import type { Tag } from "../wire/Tag.ts"
import { tagValues } from "./Values.ts"

/** Hashtags as serialised JSON, with the viewer's relation to them; four queries per list. */
export class TagViews extends Context.Service<TagViews, {
  /** Returns hashtags in the order of `ids`. */
  readonly render: (viewer: Viewer, ids: ReadonlyArray<bigint>) => Effect.Effect<ReadonlyArray<JsonOf<Tag>>>
  readonly of: (viewer: Viewer, tag: TagRecord) => Effect.Effect<JsonOf<Tag>>
}>()("murmuration/http/render/TagViews") {
  static readonly layer = Layer.effect(
    TagViews,
    Effect.gen(function*() {
      const config = yield* ServerConfig
      const featured = yield* FeaturedTags
      const follows = yield* TagFollows
      const tags = yield* Tags

      const relations = Effect.fnUntraced(function*(viewer: Viewer, ids: ReadonlyArray<bigint>) {
        if (viewer === undefined) return () => undefined
        const [followed, features] = [yield* follows.among(viewer, ids), yield* featured.among(viewer, ids)]
        return ({ id }: TagRecord) => ({
          following: id !== undefined && followed.has(id),
          featuring: id !== undefined && features.has(id)
        })
      })

      return TagViews.of({
        render: traced("TagViews.render")(function*(viewer: Viewer, ids: ReadonlyArray<bigint>) {
          const relationTo = yield* relations(viewer, ids)
          return yield* renderedRows(
            "hashtag",
            yield* tags.load(ids),
            ({ name }) => name,
            (tag) => json<Tag>(tagValues(config, tag, relationTo(tag)))
          )
        }),
        of: traced("TagViews.of")(function*(viewer: Viewer, tag: TagRecord) {
          const relationTo = yield* relations(viewer, tag.id === undefined ? [] : [tag.id])
          return json<Tag>(tagValues(config, tag, relationTo(tag)))
        })
      })
    })
  )
}
