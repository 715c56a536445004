import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { rowsMax } from "../../database/Paging.ts"
import { rowsOf, Timestamptz } from "../../database/Rows.ts"
import { retryDeadlocks } from "../../database/Transactions.ts"
import { traced } from "../../runtime/Traced.ts"
import { PausedBy } from "./DeliveryHosts.ts"

/** Maximum hosts and deliveries listed, and maximum deliveries of a host that one statement counts or moves. */
export const listedMax = 200
export const countedMax = 10_000

/** Waiting deliveries of a host; `waiting` is at most `countedMax`. */
export const HostQueue = Schema.Struct({
  host: Schema.String,
  waiting: Schema.Int,
  oldestAt: Timestamptz,
  nextAt: Timestamptz,
  error: Schema.NullOr(Schema.String),
  pausedBy: Schema.NullOr(PausedBy)
})
export type HostQueue = typeof HostQueue.Type
const queueRows = rowsOf(HostQueue)

/** Waiting delivery of an activity about a post. */
export const WaitingDelivery = Schema.Struct({
  type: Schema.String,
  inbox: Schema.String,
  tries: Schema.Int,
  dueAt: Timestamptz,
  error: Schema.NullOr(Schema.String),
  pausedBy: Schema.NullOr(PausedBy)
})
export type WaitingDelivery = typeof WaitingDelivery.Type
const waitingRows = rowsOf(WaitingDelivery)

/** Inbox that does not accept deliveries: it refused the post, or has been gone since `goneAt`. */
export const RefusingInbox = Schema.Struct({
  inbox: Schema.String,
  refusal: Schema.NullOr(Schema.String),
  goneAt: Schema.NullOr(Timestamptz)
})
export type RefusingInbox = typeof RefusingInbox.Type
const refusingRows = rowsOf(RefusingInbox)

/** Local post, and its distribution. */
const LocalPost = Schema.Struct({
  visibility: Schema.String,
  deleted: Schema.Boolean,
  followers: Schema.Int,
  followerHosts: Schema.Int,
  mentioned: Schema.Array(Schema.String),
  /** Number of fan-outs in progress. */
  expanding: Schema.Int,
  /** Inboxes for which a delivery was enqueued. */
  reached: Schema.Array(Schema.String)
})
const postRows = rowsOf(LocalPost)
/** A local post with its deliveries that wait, and the inboxes that refuse them. */
export type PostDeliveries = typeof LocalPost.Type & {
  readonly waiting: ReadonlyArray<WaitingDelivery>
  readonly refusing: ReadonlyArray<RefusingInbox>
}

/** Deliveries, as operators see them. */
export class Queues extends Context.Service<Queues, {
  /** Hosts with waiting deliveries, by number. */
  readonly list: Effect.Effect<ReadonlyArray<HostQueue>, SqlError>
  /** Makes all waiting deliveries of the host due now; returns their number. */
  readonly retryNow: (host: string) => Effect.Effect<number, SqlError>
  /** Returns the deliveries of a local post; undefined if it does not exist. */
  readonly explain: (statusId: bigint) => Effect.Effect<PostDeliveries | undefined, SqlError>
}>()("murmuration/services/federation/outbox/Queues") {
  static readonly layer = Layer.effect(
    Queues,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient

      const list = queueRows(sql`
        WITH RECURSIVE walk AS (
          (SELECT host_id FROM deliveries ORDER BY host_id LIMIT 1)
          UNION ALL
          SELECT n.host_id FROM walk w CROSS JOIN LATERAL (SELECT host_id FROM deliveries
            WHERE host_id > w.host_id ORDER BY host_id LIMIT 1) n)
        SELECT h.host, h.paused_by, coalesce(h.last_error, first.error) AS error, first.due_at AS next_at, q.waiting,
          q.oldest AS oldest_at
        FROM (SELECT host_id FROM walk LIMIT ${rowsMax(sql, listedMax)}) w JOIN hosts h ON h.id = w.host_id
        CROSS JOIN LATERAL (SELECT due_at, error FROM deliveries WHERE host_id = h.id ORDER BY due_at LIMIT 1) first
        CROSS JOIN LATERAL (SELECT count(*)::int AS waiting, min(a.created_at) AS oldest FROM (
          SELECT activity_id FROM deliveries WHERE host_id = h.id LIMIT ${rowsMax(sql, countedMax)}) d
          JOIN outgoing_activities a ON a.id = d.activity_id) q
        ORDER BY h.id`)

      const hurry = traced("Queues.retryNow")(function*(host: string) {
        const now = new Date(yield* Clock.currentTimeMillis)
        const some = sql`UPDATE deliveries SET due_at = ${now} WHERE (inbox_id, about, activity_id) IN (
          SELECT d.inbox_id, d.about, d.activity_id FROM hosts h JOIN deliveries d ON d.host_id = h.id
          WHERE h.host = ${host} AND d.due_at > ${now} LIMIT ${rowsMax(sql, countedMax)}) RETURNING 1`
        let moved = 0
        for (let rows = countedMax; rows === countedMax;) {
          rows = (yield* retryDeadlocks(sql)(some)).length
          moved += rows
        }
        return moved
      })

      const explain = traced("Queues.explain")(function*(statusId: bigint) {
        const [post] = yield* postRows(sql`
          SELECT s.visibility, s.deleted_at IS NOT NULL AS deleted,
            ARRAY(SELECT a.username || '@' || a.domain FROM mentions m JOIN accounts a ON a.id = m.account_id
              WHERE m.status_id = s.id AND NOT m.silent AND a.domain IS NOT NULL LIMIT ${
          rowsMax(sql, listedMax)
        }) AS mentioned,
            (SELECT count(*)::int FROM follows WHERE target_account_id = s.account_id AND remote) AS followers,
            (SELECT count(DISTINCT i.host_id)::int FROM follows f JOIN remote_actors r ON r.account_id = f.account_id
              JOIN inboxes i ON i.id = r.inbox_id WHERE f.target_account_id = s.account_id AND f.remote) AS follower_hosts,
            (SELECT count(*)::int FROM fanouts WHERE status_id = s.id AND kind IN ('publish', 'edit', 'delete', 'deliver')) AS expanding,
            ARRAY(SELECT i.url FROM reaches t JOIN inboxes i ON i.id = ANY (t.inbox_ids) WHERE t.about = s.id
              ORDER BY i.url LIMIT ${rowsMax(sql, listedMax)}) AS reached
          FROM statuses s WHERE s.id = ${statusId} AND s.local`)
        if (post === undefined) return undefined
        const waiting = yield* waitingRows(sql`SELECT a.type, i.url AS inbox, d.tries, d.due_at, d.error, h.paused_by
          FROM outgoing_activities a JOIN deliveries d ON d.activity_id = a.id JOIN inboxes i ON i.id = d.inbox_id
          JOIN hosts h ON h.id = d.host_id WHERE a.about = ${statusId} ORDER BY a.id, i.url LIMIT ${
          rowsMax(sql, listedMax)
        }`)
        const refusing = yield* refusingRows(sql`
          SELECT i.url AS inbox, CASE WHEN i.refused_about = ${statusId} THEN i.refusal END AS refusal, i.gone_at
          FROM inboxes i WHERE (i.refused_about = ${statusId} OR i.gone_at IS NOT NULL) AND i.id IN (
            SELECT unnest(inbox_ids) FROM reaches WHERE about = ${statusId}
            UNION ALL SELECT r.inbox_id FROM follows f JOIN remote_actors r ON r.account_id = f.account_id
              JOIN statuses s ON s.account_id = f.target_account_id WHERE s.id = ${statusId} AND f.remote)
          ORDER BY i.url LIMIT ${rowsMax(sql, listedMax)}`)
        return { ...post, waiting, refusing }
      })
      return Queues.of({ list, retryNow: hurry, explain })
    })
  )
}
