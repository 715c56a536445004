import { Effect, Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { ServerConfig } from "../../services/instance/ServerConfig.ts"
import { FeaturedTags } from "../../services/statuses/FeaturedTags.ts"
import { Tags } from "../../services/statuses/Tags.ts"
import { traced } from "../../services/Traced.ts"
import { group } from "../Group.ts"
import { Access } from "../guard/Access.ts"
import { Caller } from "../guard/Caller.ts"
import { Guard } from "../guard/Guard.ts"
import * as Reply from "../guard/Reply.ts"
import { noTagRelation, tagValues } from "../render/Values.ts"
import { json } from "../wire/Keys.ts"
import { Tag } from "../wire/Tag.ts"

export class TagsGroup extends HttpApiGroup.make("tags")
  .add(
    HttpApiEndpoint.get("show", "/api/v1/tags/:name", { params: { name: Schema.String }, success: Tag })
      .annotate(Access, Access.public())
  )
  .middleware(Guard)
{}

/** Hashtags; what nobody has used yet is shown without an id, what can be none is not found. */
export const layer = group(
  TagsGroup,
  Effect.fn(function*(handlers) {
    const featured = yield* FeaturedTags
    const tags = yield* Tags
    const config = yield* ServerConfig
    return handlers.handleAll({
      show: traced("tags.show")(function*({ params }) {
        const viewer = yield* Caller.viewer
        const tag = yield* tags.find(params.name)
        const featuring = viewer !== undefined && tag.id !== undefined &&
          (yield* featured.among(viewer, [tag.id])).size > 0
        const relation = viewer === undefined ? undefined : { ...noTagRelation, featuring }
        return Reply.json(json<Tag>(tagValues(config, tag, relation)))
      })
    })
  })
)
