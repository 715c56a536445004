import { Effect, Layer, Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { AccountActors } from "../../actors/account/core/AccountActors.ts"
import { normalise } from "../../services/html/HashtagNames.ts"
import { Accounts } from "../../services/identity/Accounts.ts"
import { RecordNotFound } from "../../services/runtime/Errors.ts"
import { traced } from "../../services/runtime/Traced.ts"
import { FeaturedTags } from "../../services/statuses/FeaturedTags.ts"
import { Tags } from "../../services/statuses/Tags.ts"
import { bounded } from "../../services/text/BoundedText.ts"
import { Access } from "../guard/Access.ts"
import { Caller } from "../guard/Caller.ts"
import { group } from "../guard/Group.ts"
import { Guard } from "../guard/Guard.ts"
import * as Reply from "../guard/Reply.ts"
import { FeaturedTagViews } from "../render/FeaturedTagViews.ts"
import { TagViews } from "../render/TagViews.ts"
import { AccountIdPath, IdPath } from "../wire/ReadRequests.ts"
import { FeaturedTag, Tag, TagName } from "../wire/Tag.ts"

const path = "/api/v1/featured_tags"
const read = Access.user("read", "read:accounts")
const write = Access.user("write", "write:accounts")
const named = { params: { name: Schema.String }, success: Tag }

export class FeaturedTagsGroup extends HttpApiGroup.make("featuredTags")
  .add(
    HttpApiEndpoint.get("list", path, { success: Schema.Array(FeaturedTag) }).annotate(Access, read),
    HttpApiEndpoint.get("ofAccount", "/api/v1/accounts/:id/featured_tags", {
      params: AccountIdPath,
      success: Schema.Array(FeaturedTag)
    }).annotate(Access, Access.public()),
    HttpApiEndpoint.get("suggestions", `${path}/suggestions`, { success: Schema.Array(Tag) }).annotate(Access, read),
    HttpApiEndpoint.post("create", path, { payload: TagName, success: FeaturedTag }).annotate(Access, write),
    HttpApiEndpoint.delete("remove", `${path}/:id`, { params: IdPath, success: Schema.Struct({}) })
      .annotate(Access, write),
    HttpApiEndpoint.post("feature", "/api/v1/tags/:name/feature", named).annotate(Access, write),
    HttpApiEndpoint.post("unfeature", "/api/v1/tags/:name/unfeature", named).annotate(Access, write)
  )
  .middleware(Guard)
{}

/** Hashtags featured on a profile (S-097, S-165, S-215). */
export const layer = group(
  FeaturedTagsGroup,
  Effect.fn(function*(handlers) {
    const accounts = yield* Accounts
    const actors = yield* AccountActors
    const featured = yield* FeaturedTags
    const tags = yield* Tags
    const views = yield* FeaturedTagViews
    const tagViews = yield* TagViews

    const change = (tag: "FeatureTag" | "UnfeatureTag") =>
      traced(`featuredTags.${tag}`)(function*({ params }: { readonly params: { readonly name: string } }) {
        const viewer = yield* Caller.account
        // An invalid hashtag is refused as not found before anything is written.
        yield* tags.find(params.name)
        yield* actors.tell(viewer, { _tag: tag, name: params.name })
        return Reply.json(yield* tagViews.of(viewer, yield* tags.find(params.name)))
      })

    return handlers.handleAll({
      list: traced("featuredTags.list")(function*() {
        return Reply.list(yield* views.of(yield* Caller.account))
      }),
      ofAccount: traced("featuredTags.ofAccount")(function*({ params }) {
        const { id, suspended } = yield* accounts.find(params.id)
        return Reply.list(suspended ? [] : yield* views.of(id))
      }),
      suggestions: traced("featuredTags.suggestions")(function*() {
        const viewer = yield* Caller.account
        return Reply.list(yield* tagViews.render(viewer, yield* featured.suggestions(viewer)))
      }),
      create: traced("featuredTags.create")(function*({ payload }) {
        const viewer = yield* Caller.account
        const name = (payload.name ?? "").trim().replace(/^#/, "")
        yield* actors.tell(viewer, { _tag: "FeatureTag", name })
        const [view] = yield* views.of(viewer, (tag) => normalise(bounded(tag.name)) === normalise(bounded(name)))
        return view === undefined ? yield* new RecordNotFound() : Reply.json(view)
      }),
      remove: traced("featuredTags.remove")(function*({ params }) {
        const viewer = yield* Caller.account
        const found = (yield* featured.of(viewer)).find(({ id }) => id === params.id)
        if (found === undefined) return yield* new RecordNotFound()
        yield* actors.tell(viewer, { _tag: "UnfeatureTag", name: found.name })
        return Reply.empty
      }),
      feature: change("FeatureTag"),
      unfeature: change("UnfeatureTag")
    })
  })
).pipe(Layer.provide([FeaturedTagViews.layer, TagViews.layer]))
