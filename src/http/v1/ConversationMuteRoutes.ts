import { Effect, Layer } from "effect"
import { HttpApiGroup } from "effect/http-api"
import type { AccountId, StatusId } from "../../services/database/Ids.ts"
import { traced } from "../../services/runtime/Traced.ts"
import { ConversationMutes } from "../../services/statuses/ConversationMutes.ts"
import { Caller } from "../guard/Caller.ts"
import { group } from "../guard/Group.ts"
import { Guard } from "../guard/Guard.ts"
import * as Reply from "../guard/Reply.ts"
import { StatusViews } from "../render/StatusViews.ts"
import * as StatusCommands from "./StatusCommands.ts"

export class ConversationMutesGroup extends HttpApiGroup.make("conversationMutes")
  .add(
    StatusCommands.onStatus("mute", "write:mutes"),
    StatusCommands.onStatus("unmute", "write:mutes")
  )
  .middleware(Guard)
{}

/** Conversations that do not notify the user, named by any of their statuses. Only the user sees a mute. */
export const layer = group(
  ConversationMutesGroup,
  Effect.fn(function*(handlers) {
    const mutes = yield* ConversationMutes
    const views = yield* StatusViews

    const change = Effect.fnUntraced(function*(
      id: StatusId,
      write: (viewer: AccountId, id: StatusId) => Effect.Effect<void>
    ) {
      const viewer = yield* Caller.account
      // Rendered first: a status that the user cannot see cannot be muted.
      yield* views.renderOne(viewer, id)
      yield* write(viewer, id)
      return Reply.json(yield* views.renderOne(viewer, id))
    })

    return handlers.handleAll({
      mute: traced("conversationMutes.mute")(({ params }) => change(params.id, mutes.mute)),
      unmute: traced("conversationMutes.unmute")(({ params }) => change(params.id, mutes.unmute))
    })
  })
).pipe(Layer.provide(StatusViews.layer))
