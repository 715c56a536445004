import { Effect, Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { renderedRows } from "../../services/database/RenderedRows.ts"
import { Accounts } from "../../services/identity/Accounts.ts"
import { RecordNotFound } from "../../services/runtime/Errors.ts"
import { traced } from "../../services/runtime/Traced.ts"
import { AccountNotes } from "../../services/social/AccountNotes.ts"
import { Relationships } from "../../services/social/Relationships.ts"
import { Access } from "../guard/Access.ts"
import { Caller } from "../guard/Caller.ts"
import { group } from "../guard/Group.ts"
import { Guard } from "../guard/Guard.ts"
import * as Reply from "../guard/Reply.ts"
import * as Lists from "../render/ListResponses.ts"
import { relationshipValues } from "../render/Values.ts"
import { json } from "../wire/Keys.ts"
import { AccountIdPath, NewNote, RelationshipsQuery } from "../wire/ReadRequests.ts"
import { Relationship } from "../wire/Relationship.ts"

export class RelationshipsGroup extends HttpApiGroup.make("relationships")
  .add(
    HttpApiEndpoint.get("list", "/relationships", { query: RelationshipsQuery, success: Schema.Array(Relationship) })
      .annotate(Access, Access.user("read", "read:follows")),
    HttpApiEndpoint.post("note", "/:id/note", { params: AccountIdPath, payload: NewNote, success: Relationship })
      .annotate(Access, Access.user("write", "write:accounts"))
  )
  .prefix("/api/v1/accounts")
  .middleware(Guard)
{}

/** The user's relationships with other accounts, and private notes about them (S-047 to S-053, S-096). */
export const layer = group(
  RelationshipsGroup,
  Effect.fn(function*(handlers) {
    const accounts = yield* Accounts
    const accountNotes = yield* AccountNotes
    const relationships = yield* Relationships
    return handlers.handleAll({
      list: traced("relationships.list")(function*({ query }) {
        const found = yield* relationships.of(yield* Caller.account, Lists.idsOf(query.id), {
          withSuspended: query.withSuspended === true
        })
        return Reply.list(
          yield* renderedRows(
            "relationship",
            found,
            ({ id }) => id,
            (record) => json<Relationship>(relationshipValues(record))
          )
        )
      }),
      note: traced("relationships.note")(function*({ params, payload }) {
        const viewer = yield* Caller.account
        const { id } = yield* accounts.find(params.id)
        yield* accountNotes.write(viewer, id, payload.comment ?? "")
        const [found] = yield* relationships.of(viewer, [id], { withSuspended: true })
        if (found === undefined) return yield* new RecordNotFound()
        return Reply.json(json<Relationship>(relationshipValues(found)))
      })
    })
  })
)
