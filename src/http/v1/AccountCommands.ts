import { Effect } from "effect"
import { HttpApiEndpoint } from "effect/http-api"
import { AccountActors } from "../../actors/account/core/AccountActors.ts"
import type { Command } from "../../actors/account/core/AccountProtocol.ts"
import type { AccountId } from "../../services/database/Ids.ts"
import { RecordNotFound } from "../../services/runtime/Errors.ts"
import { Relationships } from "../../services/social/Relationships.ts"
import { Access } from "../guard/Access.ts"
import { Caller } from "../guard/Caller.ts"
import * as Reply from "../guard/Reply.ts"
import { relationshipValues } from "../render/Values.ts"
import { json } from "../wire/Keys.ts"
import { AccountIdPath } from "../wire/ReadRequests.ts"
import { Relationship } from "../wire/Relationship.ts"
import { familyHeaders } from "./CommandHeaders.ts"

/** Declares a POST endpoint that acts on an account and takes no body. */
export const onAccount = <const Name extends string>(name: Name, path: `/${string}`, scope: string) =>
  HttpApiEndpoint.post(name, path, { params: AccountIdPath, success: Relationship })
    .annotate(Access, Access.user("follow", "write", scope))

/**
 * Makes a function that runs a command of the user's actor on an account and returns the relationship. Made once per
 * group.
 */
export const make = Effect.gen(function*() {
  const actors = yield* AccountActors
  const relationships = yield* Relationships
  return Effect.fnUntraced(function*(target: AccountId, command: Command) {
    const viewer = yield* Caller.account
    const response = yield* actors.tell(viewer, command)
    const [found] = yield* relationships.of(viewer, [target], { withSuspended: true })
    if (found === undefined) return yield* new RecordNotFound()
    return Reply.withHeaders(Reply.json(json<Relationship>(relationshipValues(found))), familyHeaders(response))
  })
})
