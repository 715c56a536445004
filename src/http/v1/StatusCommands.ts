import { Effect } from "effect"
import { HttpApiEndpoint } from "effect/http-api"
import { AccountActors } from "../../actors/account/AccountActors.ts"
import type { Command } from "../../actors/account/Protocol.ts"
import { Access } from "../guard/Access.ts"
import { Caller } from "../guard/Caller.ts"
import * as Reply from "../guard/Reply.ts"
import { StatusViews } from "../render/StatusViews.ts"
import { StatusIdPath } from "../wire/ReadRequests.ts"
import { Status } from "../wire/Status.ts"
import { familyHeaders } from "./CommandHeaders.ts"

/** An endpoint that does something to a status and takes nothing else. */
export const onStatus = <const Name extends string>(name: Name, scope: string) =>
  HttpApiEndpoint.post(name, `/api/v1/statuses/:id/${name}`, { params: StatusIdPath, success: Status })
    .annotate(Access, Access.user("write", scope))

/** Commands of the user's own actor about a status, each with the status that it answers. Made once a group. */
export const make = Effect.gen(function*() {
  const actors = yield* AccountActors
  const views = yield* StatusViews
  return {
    act: Effect.fnUntraced(function*(command: Command, key?: string) {
      const viewer = yield* Caller.account
      const answer = yield* actors.tell(viewer, command, key)
      const id = BigInt(answer.id)
      return Reply.withHeaders(Reply.json(yield* views.renderOne(viewer, id)), familyHeaders(answer))
    }),
    /** The status is shown as far as the viewer may still see it: what was done to it can be undone always (S-127). */
    undo: Effect.fnUntraced(function*(command: Command) {
      const viewer = yield* Caller.account
      const id = BigInt((yield* actors.tell(viewer, command)).id)
      return Reply.json(yield* views.renderUndone(viewer, id))
    })
  }
})
