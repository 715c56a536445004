import { Effect, Layer } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { AccountActors as Actors } from "../../actors/account/core/AccountActors.ts"
import { AccountId } from "../../services/database/Ids.ts"
import { RemoteActors } from "../../services/federation/RemoteActors.ts"
import { Accounts } from "../../services/identity/Accounts.ts"
import { ServerConfig } from "../../services/instance/ServerConfig.ts"
import { NotAllowed, RecordNotFound, Unavailable } from "../../services/runtime/Errors.ts"
import { traced } from "../../services/runtime/Traced.ts"
import { Access } from "../guard/Access.ts"
import { Caller } from "../guard/Caller.ts"
import { group } from "../guard/Group.ts"
import { Guard } from "../guard/Guard.ts"
import * as Reply from "../guard/Reply.ts"
import { AccountViews } from "../render/AccountViews.ts"
import { Account } from "../wire/Account.ts"
import { RemoteFollow } from "../wire/AccountRequests.ts"
import { familyHeaders } from "./CommandHeaders.ts"

/** Maximum time that a client waits for the remote server, in seconds. */
const lookUpSecondsMax = 8

/** Follows an account by its handle (S-140). */
export class RemoteFollowsGroup extends HttpApiGroup.make("remoteFollows")
  .add(
    HttpApiEndpoint.post("create", "/api/v1/follows", { payload: RemoteFollow, success: Account })
      .annotate(Access, Access.user("follow", "write", "write:follows"))
  )
  .middleware(Guard)
{}

export const layer = group(
  RemoteFollowsGroup,
  Effect.fn(function*(handlers) {
    const actors = yield* Actors
    const accounts = yield* Accounts
    const remote = yield* RemoteActors
    const views = yield* AccountViews
    const { federated } = yield* ServerConfig

    /**
     * Resolves a handle at its server. An account of another protocol is not allowed (S-016); an unreachable one is not
     * found.
     */
    const resolveRemote = (handle: string) =>
      remote.findByHandle(handle).pipe(
        Effect.catchTags({
          Implausible: () => new NotAllowed(),
          ErrorResponse: () => new RecordNotFound(),
          Refused: () => new RecordNotFound(),
          Unreachable: () => new RecordNotFound()
        }),
        Effect.timeoutOrElse({ duration: `${lookUpSecondsMax} seconds`, orElse: () => new Unavailable() }),
        Effect.flatMap(({ id, suspended }) =>
          suspended ? Effect.fail(new RecordNotFound()) : Effect.succeed(AccountId.make(id))
        )
      )

    return handlers.handleAll({
      create: traced("remoteFollows.create")(function*({ payload }) {
        const viewer = yield* Caller.account
        const target = yield* accounts.lookup(payload.uri ?? "").pipe(
          Effect.catchTag(
            "RecordNotFound",
            (unknown) => federated ? resolveRemote(payload.uri ?? "") : Effect.fail(unknown)
          )
        )
        const response = yield* actors.tell(viewer, {
          _tag: "Follow",
          target,
          reblogs: null,
          notify: null,
          languages: null
        })
        return Reply.withHeaders(Reply.json(yield* views.renderOne(target)), familyHeaders(response))
      })
    })
  })
).pipe(Layer.provide(AccountViews.layer))
