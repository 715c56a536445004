import { Effect, Layer, Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { AccountActors } from "../../actors/account/core/AccountActors.ts"
import { ServerConfig } from "../../services/instance/ServerConfig.ts"
import { traced } from "../../services/runtime/Traced.ts"
import { TagFollows } from "../../services/statuses/TagFollows.ts"
import { Tags } from "../../services/statuses/Tags.ts"
import { Access } from "../guard/Access.ts"
import { Caller } from "../guard/Caller.ts"
import { group } from "../guard/Group.ts"
import { Guard } from "../guard/Guard.ts"
import * as Reply from "../guard/Reply.ts"
import * as Lists from "../render/ListResponses.ts"
import { followedTagRows } from "../render/PageSizes.ts"
import { TagViews } from "../render/TagViews.ts"
import { pageOf, PageQuery } from "../wire/PageQuery.ts"
import { Tag } from "../wire/Tag.ts"

const path = "/api/v1/followed_tags"
const named = { params: { name: Schema.String }, success: Tag }
const writing = Access.user("follow", "write", "write:follows")

export class TagsGroup extends HttpApiGroup.make("tags")
  .add(
    HttpApiEndpoint.get("show", "/api/v1/tags/:name", named).annotate(Access, Access.public()),
    HttpApiEndpoint.post("follow", "/api/v1/tags/:name/follow", named).annotate(Access, writing),
    HttpApiEndpoint.post("unfollow", "/api/v1/tags/:name/unfollow", named).annotate(Access, writing),
    HttpApiEndpoint.get("followed", path, { query: PageQuery, success: Schema.Array(Tag) })
      .annotate(Access, Access.user("follow", "read", "read:follows"))
  )
  .middleware(Guard)
{}

/** Hashtags and hashtag follows. An unused hashtag is shown without an id; an invalid one is not found. */
export const layer = group(
  TagsGroup,
  Effect.fn(function*(handlers) {
    const actors = yield* AccountActors
    const follows = yield* TagFollows
    const tags = yield* Tags
    const views = yield* TagViews
    const { publicUrl } = yield* ServerConfig

    const change = (tag: "FollowTag" | "UnfollowTag") =>
      traced(`tags.${tag}`)(function*({ params }: { readonly params: { readonly name: string } }) {
        const viewer = yield* Caller.account
        // An invalid hashtag is refused as not found before anything is written.
        yield* tags.find(params.name)
        yield* actors.tell(viewer, { _tag: tag, name: params.name })
        return Reply.json(yield* views.of(viewer, yield* tags.find(params.name)))
      })

    return handlers.handleAll({
      show: traced("tags.show")(function*({ params }) {
        return Reply.json(yield* views.of(yield* Caller.viewer, yield* tags.find(params.name)))
      }),
      follow: change("FollowTag"),
      unfollow: change("UnfollowTag"),
      followed: traced("tags.followed")(function*({ query }) {
        const viewer = yield* Caller.account
        const page = pageOf(query, followedTagRows)
        const rows = yield* follows.page(viewer, page)
        return Lists.page({
          baseUrl: publicUrl,
          path,
          page,
          rows,
          cursor: ({ cursor }) => cursor,
          items: yield* views.render(viewer, rows.map(({ tagId }) => tagId))
        })
      })
    })
  })
).pipe(Layer.provide(TagViews.layer))
