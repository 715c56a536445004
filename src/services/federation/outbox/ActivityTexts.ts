import { Clock, Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql/SqlClient"
import { LRUCache } from "lru-cache"
import { rowsOf } from "../../Rows.ts"

/** Bytes of documents that are kept in memory. */
const bytesMax = 16_777_216
/** How long is believed what may change about an activity: who sends it. In milliseconds. */
const keptMillis = 60_000

const utf8 = new TextEncoder()

const Sent = Schema.Struct({
  synchronizes: Schema.Boolean,
  low: Schema.Boolean,
  senderId: Schema.BigInt,
  /** Null for the server itself, and for an account that is gone. */
  username: Schema.NullOr(Schema.String)
})
const activityRows = rowsOf(Schema.Struct({ ...Sent.fields, id: Schema.BigInt, document: Schema.String }))

/** What all deliveries of an activity have in common. */
export type ActivityText = typeof Sent.Type & {
  /** The document, in UTF-8. */
  readonly body: Uint8Array
}

/** Activities by their ids as they are sent; what many hosts get is asked for once. */
export const make = (sql: SqlClient) => {
  const kept = new LRUCache<bigint, { readonly text: ActivityText; readonly at: number }>({
    maxSize: bytesMax,
    sizeCalculation: ({ text }) => text.body.length + 1
  })
  return Effect.fnUntraced(function*(ids: ReadonlyArray<bigint>) {
    const now = yield* Clock.currentTimeMillis
    const found = new Map<bigint, ActivityText>()
    const missing = new Set<bigint>()
    for (const id of ids) {
      const known = kept.get(id)
      if (known === undefined || now - known.at > keptMillis || now < known.at) missing.add(id)
      else found.set(id, known.text)
    }
    if (missing.size === 0) return found
    const rows = yield* activityRows(sql`
      SELECT a.id, a.document, a.synchronizes, a.low, a.sender_id, s.username
      FROM outgoing_activities a LEFT JOIN accounts s ON s.id = a.sender_id WHERE a.id = ANY (${[
      ...missing
    ]}::bigint[])`)
    for (const { document, id, ...sent } of rows) {
      const text = { ...sent, body: utf8.encode(document) }
      found.set(id, text)
      kept.set(id, { text, at: now })
    }
    return found
  })
}
