import { Effect } from "effect"
import { SqlClient } from "effect/sql"

const statements = [
  // A direct post that is also for accounts which it does not name: they may read it and are not told of it.
  `ALTER TABLE statuses ADD COLUMN limited boolean NOT NULL DEFAULT false`,
  `ALTER TABLE mentions ADD COLUMN quiet boolean NOT NULL DEFAULT false`
]

export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
})
