import { Effect } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { AccountActors } from "../../actors/account/AccountActors.ts"
import type { Command } from "../../actors/account/Protocol.ts"
import { RecordNotFound } from "../../services/Errors.ts"
import type { AccountId } from "../../services/Ids.ts"
import { languagesGiven } from "../../services/instance/Languages.ts"
import { Relationships } from "../../services/social/Relationships.ts"
import { traced } from "../../services/Traced.ts"
import { group } from "../Group.ts"
import { Access } from "../guard/Access.ts"
import { Caller } from "../guard/Caller.ts"
import { Guard } from "../guard/Guard.ts"
import * as Reply from "../guard/Reply.ts"
import { relationshipValues } from "../render/Values.ts"
import { Follow, Mute } from "../wire/AccountRequests.ts"
import { json } from "../wire/Keys.ts"
import { AccountIdPath } from "../wire/ReadRequests.ts"
import { Relationship } from "../wire/Relationship.ts"
import { familyHeaders } from "./StatusActions.ts"

const on = <const Name extends string>(name: Name, path: `/${string}`, ...scopes: ReadonlyArray<string>) =>
  HttpApiEndpoint.post(name, path, { params: AccountIdPath, success: Relationship })
    .annotate(Access, Access.user("follow", "write", ...scopes))

/** What a user does with another account, each a command of the user's own actor; the answer is the relationship. */
export class AccountActionsGroup extends HttpApiGroup.make("accountActions")
  .add(
    HttpApiEndpoint.post("follow", "/api/v1/accounts/:id/follow", {
      params: AccountIdPath,
      payload: Follow,
      success: Relationship
    }).annotate(Access, Access.user("follow", "write", "write:follows")),
    on("unfollow", "/api/v1/accounts/:id/unfollow", "write:follows"),
    on("removeFollower", "/api/v1/accounts/:id/remove_from_followers", "write:follows"),
    on("block", "/api/v1/accounts/:id/block", "write:blocks"),
    on("unblock", "/api/v1/accounts/:id/unblock", "write:blocks"),
    HttpApiEndpoint.post("mute", "/api/v1/accounts/:id/mute", {
      params: AccountIdPath,
      payload: Mute,
      success: Relationship
    }).annotate(Access, Access.user("follow", "write", "write:mutes")),
    on("unmute", "/api/v1/accounts/:id/unmute", "write:mutes"),
    on("authorize", "/api/v1/follow_requests/:id/authorize", "write:follows"),
    on("reject", "/api/v1/follow_requests/:id/reject", "write:follows")
  )
  .middleware(Guard)
{}

export const layer = group(
  AccountActionsGroup,
  Effect.fn(function*(handlers) {
    const actors = yield* AccountActors
    const relationships = yield* Relationships

    const act = Effect.fnUntraced(function*(target: AccountId, command: Command) {
      const viewer = yield* Caller.account
      const answer = yield* actors.tell(viewer, command)
      const [found] = yield* relationships.of(viewer, [target], { withSuspended: true })
      if (found === undefined) return yield* new RecordNotFound()
      return Reply.withHeaders(
        Reply.json(json<Relationship>(relationshipValues(found))),
        familyHeaders(answer)
      )
    })
    const simply = (
      tag: "Unfollow" | "RemoveFollower" | "Block" | "Unblock" | "Unmute" | "AuthorizeFollow" | "RejectFollow"
    ) =>
      traced(`accountActions.${tag}`)(({ params }: { readonly params: { readonly id: AccountId } }) =>
        act(params.id, { _tag: tag, target: params.id })
      )

    return handlers.handleAll({
      follow: traced("accountActions.follow")(({ params, payload }) =>
        Effect.flatMap(languagesGiven(payload.languages), (languages) =>
          act(params.id, {
            _tag: "Follow",
            target: params.id,
            reblogs: payload.reblogs ?? null,
            notify: payload.notify ?? null,
            languages
          }))
      ),
      unfollow: simply("Unfollow"),
      removeFollower: simply("RemoveFollower"),
      block: simply("Block"),
      unblock: simply("Unblock"),
      mute: traced("accountActions.mute")(({ params, payload }) =>
        act(params.id, {
          _tag: "Mute",
          target: params.id,
          notifications: payload.notifications ?? true,
          seconds: Math.max(0, payload.duration ?? 0)
        })
      ),
      unmute: simply("Unmute"),
      authorize: simply("AuthorizeFollow"),
      reject: simply("RejectFollow")
    })
  })
)
