import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Mutes that let replies through, and policies about conversations in which their owner has no post. */
const statements = [
  `ALTER TABLE mutes ADD COLUMN allow_replies boolean NOT NULL DEFAULT false`,
  `ALTER TABLE notification_policies ADD COLUMN new_conversations text NOT NULL DEFAULT 'accept'
    CHECK (new_conversations IN ('accept', 'filter', 'drop'))`
]

export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
})
