import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Returns the stored data of a remote post, by its id; undefined if absent. */
export const storedNote = Effect.fnUntraced(function*(uri: unknown) {
  const sql = yield* SqlClient.SqlClient
  const [found] = yield* sql<{ visibility: string; gone: boolean; replyTo: bigint | null }>`
    SELECT visibility, deleted_at IS NOT NULL AS gone, in_reply_to_id AS reply_to FROM statuses WHERE uri = ${
    String(uri)
  }`
  return found
})
