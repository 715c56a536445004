import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { AccountId } from "../../../services/database/Ids.ts"
import { Broadcast } from "../../../services/events/Broadcast.ts"

/** Tells streams of changed conversations, after the commit; built once per node. */
export const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const broadcast = yield* Broadcast

  return {
    conversationsChanged: (changes: ReadonlyArray<{ readonly id: bigint; readonly accountId: bigint }>) =>
      sql.afterCommit(
        Effect.forEach(
          changes,
          ({ accountId, id }) =>
            broadcast.publish({
              _tag: "ConversationChanged",
              accountId: AccountId.make(accountId),
              conversationId: id
            }),
          { discard: true }
        )
      )
  }
})
