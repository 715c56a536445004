import { Effect } from "effect"
import { HttpApiEndpoint } from "effect/http-api"
import { AccountActors } from "../../actors/account/core/AccountActors.ts"
import type { Command } from "../../actors/account/core/AccountProtocol.ts"
import { Access } from "../guard/Access.ts"
import { Caller } from "../guard/Caller.ts"
import * as Reply from "../guard/Reply.ts"
import { StatusViews } from "../render/StatusViews.ts"
import { StatusIdPath } from "../wire/ReadRequests.ts"
import { Status } from "../wire/Status.ts"
import { familyHeaders } from "./CommandHeaders.ts"

/** Declares a POST endpoint that acts on a status and takes no body. */
export const onStatus = <const Name extends string>(name: Name, scope: string) =>
  HttpApiEndpoint.post(name, `/api/v1/statuses/:id/${name}`, { params: StatusIdPath, success: Status })
    .annotate(Access, Access.user("write", scope))

/** Makes functions that run a command of the user's actor and return its status. Made once per group. */
export const make = Effect.gen(function*() {
  const actors = yield* AccountActors
  const views = yield* StatusViews
  return {
    act: Effect.fnUntraced(function*(command: Command, key?: string) {
      const viewer = yield* Caller.account
      const response = yield* actors.tell(viewer, command, key)
      const id = BigInt(response.id)
      return Reply.withHeaders(Reply.json(yield* views.renderOne(viewer, id)), familyHeaders(response))
    }),
    /** Undoes an action. This always works; the status is shown only if the viewer may still see it (S-127). */
    undo: Effect.fnUntraced(function*(command: Command) {
      const viewer = yield* Caller.account
      const id = BigInt((yield* actors.tell(viewer, command)).id)
      return Reply.json(yield* views.renderUndone(viewer, id))
    })
  }
})
