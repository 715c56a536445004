import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { Json } from "../../services/federation/Peer.ts"

/** Returns the activities of a type that the server sent, oldest first. */
export const sentOf = Effect.fnUntraced(function*(type: string) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<
    { document: string }
  >`SELECT document FROM outgoing_activities WHERE type = ${type} ORDER BY id`
  return rows.map(({ document }): Json => JSON.parse(document))
})
