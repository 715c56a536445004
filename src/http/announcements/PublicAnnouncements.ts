import { Effect, Layer, Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { AccountActors } from "../../actors/account/core/AccountActors.ts"
import { Announcements } from "../../services/announcements/Announcements.ts"
import { traced } from "../../services/runtime/Traced.ts"
import { Access } from "../guard/Access.ts"
import { Caller } from "../guard/Caller.ts"
import { group } from "../guard/Group.ts"
import { Guard } from "../guard/Guard.ts"
import * as Reply from "../guard/Reply.ts"
import { AnnouncementViews } from "../render/AnnouncementViews.ts"
import { Announcement, AnnouncementsQuery, ReactionPath } from "../wire/Announcement.ts"
import { IdPath } from "../wire/ReadRequests.ts"

const path = "/api/v1/announcements"
const nothing = Schema.Struct({})
const reaction = { params: ReactionPath, success: nothing }
const reacting = Access.user("write", "write:favourites")

export class AnnouncementsGroup extends HttpApiGroup.make("announcements")
  .add(
    HttpApiEndpoint.get("list", path, { query: AnnouncementsQuery, success: Schema.Array(Announcement) })
      .annotate(Access, Access.user()),
    HttpApiEndpoint.post("dismiss", `${path}/:id/dismiss`, { params: IdPath, success: nothing })
      .annotate(Access, Access.user("write", "write:accounts")),
    HttpApiEndpoint.put("react", `${path}/:id/reactions/:name`, reaction).annotate(Access, reacting),
    HttpApiEndpoint.patch("reactByPatch", `${path}/:id/reactions/:name`, reaction).annotate(Access, reacting),
    HttpApiEndpoint.delete("unreact", `${path}/:id/reactions/:name`, reaction).annotate(Access, reacting)
  )
  .middleware(Guard)
{}

/** Announcements from staff to all users (S-087, S-088, S-177, S-221, S-222). */
export const layer = group(
  AnnouncementsGroup,
  Effect.fn(function*(handlers) {
    const actors = yield* AccountActors
    const announcements = yield* Announcements
    const views = yield* AnnouncementViews

    const change = (tag: "ReactToAnnouncement" | "UnreactToAnnouncement") =>
      traced(`announcements.${tag}`)(function*({ params: { id, name } }: {
        readonly params: { readonly id: bigint; readonly name: string }
      }) {
        yield* actors.tell(yield* Caller.account, { _tag: tag, announcementId: id, name })
        return Reply.empty
      })

    return handlers.handleAll({
      list: traced("announcements.list")(function*({ query }) {
        return Reply.list(yield* views.published(yield* Caller.account, query.withDismissed === true))
      }),
      dismiss: traced("announcements.dismiss")(function*({ params }) {
        yield* announcements.dismiss(yield* Caller.account, params.id)
        return Reply.empty
      }),
      react: change("ReactToAnnouncement"),
      reactByPatch: change("ReactToAnnouncement"),
      unreact: change("UnreactToAnnouncement")
    })
  })
).pipe(Layer.provide(AnnouncementViews.layer))
