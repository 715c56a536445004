import { Effect } from "effect"
import { SqlClient } from "effect/sql"

const statements = [
  // Direct posts with recipients that are not mentioned: they may read the post and are not notified.
  `ALTER TABLE statuses ADD COLUMN limited boolean NOT NULL DEFAULT false`,
  `ALTER TABLE mentions ADD COLUMN quiet boolean NOT NULL DEFAULT false`
]

export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
})
