import { Clock, Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql/SqlClient"
import { LRUCache } from "lru-cache"
import { rowsOf } from "../../database/Rows.ts"
import { TraceParent } from "../../runtime/TraceParents.ts"
import { ActorPath } from "../LocalIds.ts"

/** Maximum bytes of cached documents. */
const bytesMax = 16_777_216
/** Lifetime of cached texts, in milliseconds: the sender may change. */
const keptMillis = 60_000

const utf8 = new TextEncoder()

const Sent = Schema.Struct({
  synchronizes: Schema.Boolean,
  low: Schema.Boolean,
  senderId: Schema.BigInt,
  /** Null for the server itself and for deleted accounts. */
  actorPath: Schema.NullOr(ActorPath),
  traceParent: TraceParent
})
const activityRows = rowsOf(Schema.Struct({ ...Sent.fields, id: Schema.BigInt, document: Schema.String }))

/** Properties that all deliveries of an activity share. */
export type ActivityText = typeof Sent.Type & {
  /** Document in UTF-8. */
  readonly body: Uint8Array
}

/** Creates a cached reader of activities by id: many hosts get the same one. */
export const make = (sql: SqlClient) => {
  const cache = new LRUCache<bigint, { readonly text: ActivityText; readonly at: number }>({
    maxSize: bytesMax,
    sizeCalculation: ({ text }) => text.body.length + 1
  })
  return Effect.fnUntraced(function*(ids: ReadonlyArray<bigint>) {
    const now = yield* Clock.currentTimeMillis
    const found = new Map<bigint, ActivityText>()
    const missing = new Set<bigint>()
    for (const id of ids) {
      const known = cache.get(id)
      if (known === undefined || now - known.at > keptMillis || now < known.at) missing.add(id)
      else found.set(id, known.text)
    }
    if (missing.size === 0) return found
    const rows = yield* activityRows(sql`
      SELECT a.id, a.document, a.synchronizes, a.low, a.sender_id, s.actor_path, a.trace_parent
      FROM outgoing_activities a LEFT JOIN accounts s ON s.id = a.sender_id WHERE a.id = ANY (${[
      ...missing
    ]}::bigint[])`)
    for (const { document, id, ...sent } of rows) {
      const text = { ...sent, body: utf8.encode(document) }
      found.set(id, text)
      cache.set(id, { text, at: now })
    }
    return found
  })
}
