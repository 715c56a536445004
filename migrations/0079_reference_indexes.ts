import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Columns that reference rows which are deleted in bulk, by table. */
const references = {
  account_notes: ["target_account_id"],
  active_days: ["account_id"],
  bookmarks: ["status_id"],
  endorsements: ["target_account_id"],
  oauth_grants: ["app_id", "account_id"],
  status_pins: ["status_id"],
  tombstones: ["account_id"],
  weekly_logins: ["account_id"]
} as const

const statements = [
  ...Object.entries(references).flatMap(([table, columns]) =>
    columns.map((column) => `CREATE INDEX ${table}_by_${column} ON ${table} (${column})`)
  ),
  // Few accounts have moved.
  `CREATE INDEX accounts_by_moved_to_id ON accounts (moved_to_id) WHERE moved_to_id IS NOT NULL`,
  // Deleted posts keep their account and original. Readers tell deleted ones by the index alone.
  "CREATE INDEX statuses_by_account_id ON statuses (account_id, id DESC) INCLUDE (deleted_at)",
  `CREATE INDEX statuses_by_reblog_of_id ON statuses (reblog_of_id, id DESC) INCLUDE (deleted_at)
    WHERE reblog_of_id IS NOT NULL`,
  // They replace these indexes. Last, because posts cannot be read from here to the end of the transaction.
  "DROP INDEX statuses_account, statuses_reblogs"
]

/** Postgres looks up references to every deleted row; without an index each lookup scans the whole table. */
export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
})
