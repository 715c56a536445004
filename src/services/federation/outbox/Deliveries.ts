import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { HostId, InboxId } from "../../database/Ids.ts"
import { rowsMax } from "../../database/Paging.ts"
import { rowsOf, singleRow, Timestamptz } from "../../database/Rows.ts"
import { retryDeadlocks } from "../../database/Transactions.ts"
import { traced } from "../../runtime/Traced.ts"
import { Scheme } from "../signatures/Signatures.ts"
import * as ActivityTexts from "./ActivityTexts.ts"
import { successMillis } from "./DeliveryHosts.ts"

/** Duration of a claim, in milliseconds; longer than a round. */
export const claimMillis = 30_000
/** Maximum age of activities that are still delivered, in milliseconds: longer than all tries of a delivery take. */
const deliveryMillisMax = 4 * 24 * 3_600_000
/** Maximum count of waiting deliveries in the metric. */
const countedMax = 100_000

/** Key of a delivery: inbox, subject and activity. */
const DeliveryKey = Schema.Struct({ inboxId: InboxId, about: Schema.BigInt, activityId: Schema.BigInt })
type DeliveryKey = typeof DeliveryKey.Type

const Claimed = Schema.Struct({
  ...DeliveryKey.fields,
  url: Schema.String,
  /** Number of tries, including this one. */
  tries: Schema.Int,
  /** Signature scheme that the host accepts; null if unknown. */
  scheme: Schema.NullOr(Scheme),
  /** The inbox replied 410 earlier, and is tried again. */
  gone: Schema.Boolean,
  /** A success must be recorded: the host had failures, or its last success is not known exactly enough. */
  troubled: Schema.Boolean
})
/** Claimed delivery with everything needed to send it. */
export type Delivery = typeof Claimed.Type & ActivityTexts.ActivityText

const claimedRows = rowsOf(Schema.Struct({ ...Claimed.fields, host: Schema.String }))
const hostRows = rowsOf(Schema.Struct({ id: HostId, host: Schema.String, due: Schema.Boolean }))
const activityRows = rowsOf(Schema.Struct({ id: Schema.BigInt, old: Schema.Boolean }))
const backlogRows = rowsOf(Schema.Struct({ count: Schema.Int, oldest: Schema.NullOr(Timestamptz) }))

/** Claimed delivery; `tries` is the claim's. Once another round has the claim, its outcome no longer counts. */
type DeliveryClaimKey = DeliveryKey & Pick<typeof Claimed.Type, "tries">

/** Number of rows that a host's actor wants. */
export interface DeliveryClaim {
  readonly host: string
  readonly rows: number
}

/** Claimed delivery that was not tried; due again at `dueAt` (milliseconds since 1970). */
export interface ReleasedDelivery extends DeliveryClaimKey {
  readonly dueAt: number
}

/** Delivery that needs no more tries; `refusal` is the reason if the inbox refused it. */
export interface CompletedDelivery extends DeliveryKey {
  readonly refusal?: string | undefined
}

/** Failed delivery; retried at `dueAt` (milliseconds since 1970). */
export interface FailedDelivery extends DeliveryClaimKey {
  readonly dueAt: number
  readonly error: string
}

/**
 * Queue of deliveries, as processed by their hosts' actors. Requests of several actors at one time share a statement.
 * Statements use indexes only, and read no more rows than requested.
 */
export class Deliveries extends Context.Service<Deliveries, {
  /**
   * Claims due deliveries of each host for `claimMillis`, longest waiting first. For deliveries with the same subject
   * and inbox, only the first one is claimed, so that they arrive in order. A host that is paused by failures gets only
   * Follows, which test whether it is back; one paused by an operator gets nothing.
   */
  readonly claim: (
    claims: ReadonlyArray<DeliveryClaim>
  ) => Effect.Effect<ReadonlyMap<string, ReadonlyArray<Delivery>>, SqlError>
  /**
   * Deletes finished deliveries, and stores the last refusal of each inbox. Deliveries that waited behind a failed one
   * become due.
   */
  readonly complete: (over: ReadonlyArray<CompletedDelivery>) => Effect.Effect<void, SqlError>
  /** Postpones deliveries, and those that wait behind each, unless another round has the claim. */
  readonly retry: (failed: ReadonlyArray<FailedDelivery>) => Effect.Effect<void, SqlError>
  /** Returns deliveries that were not tried, unless another round has the claim. */
  readonly release: (untried: ReadonlyArray<ReleasedDelivery>) => Effect.Effect<void, SqlError>
  /**
   * Deletes all deliveries to an inbox that is gone. Nothing is sent there until its server sends something
   * (`DeliveryHosts`).
   */
  readonly failInbox: (inboxId: number) => Effect.Effect<void, SqlError>
  /** Marks an inbox that was gone as working again. */
  readonly reviveInbox: (inboxId: number) => Effect.Effect<void, SqlError>
  /** Returns hosts with due deliveries, of the next `hosts` hosts with numbers above `after`. */
  readonly due: (after: number, hosts: number) => Effect.Effect<
    { readonly hosts: ReadonlyArray<string>; readonly last: number | undefined },
    SqlError
  >
  /** Deletes activities that are too old to deliver, and texts without deliveries; a slice per call. */
  readonly sweep: (rows: number) => Effect.Effect<void, SqlError>
  /** Number of waiting deliveries, at most `countedMax`, and the age of the oldest in milliseconds. */
  readonly backlog: Effect.Effect<{ readonly count: number; readonly oldestMillis: number }, SqlError>
}>()("murmuration/services/federation/outbox/Deliveries") {
  static readonly layer = Layer.effect(
    Deliveries,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const retrying = retryDeadlocks(sql)
      const now = Effect.map(Clock.currentTimeMillis, (millis) => new Date(millis))
      const keyed = (keys: ReadonlyArray<DeliveryKey>) =>
        sql`unnest(${keys.map(({ inboxId }) => inboxId)}::int[], ${keys.map(({ about }) => about)}::bigint[],
          ${keys.map(({ activityId }) => activityId)}::bigint[])`
      const claimed = (claims: ReadonlyArray<DeliveryClaimKey & { readonly dueAt: number }>) =>
        sql`unnest(${claims.map(({ inboxId }) => inboxId)}::int[], ${claims.map(({ about }) => about)}::bigint[],
          ${claims.map(({ activityId }) => activityId)}::bigint[], ${claims.map(({ tries }) => tries)}::int[],
          ${claims.map(({ dueAt }) => new Date(dueAt))}::timestamptz[]`
      const isSame = sql.literal("d.inbox_id = k.inbox_id AND d.about = k.about AND d.activity_id = k.activity_id")
      const isBehind = sql.literal("d.inbox_id = k.inbox_id AND d.about = k.about AND d.activity_id > k.activity_id")

      const texts = ActivityTexts.make(sql)

      const claim = traced("Deliveries.claim")(function*(claims: ReadonlyArray<DeliveryClaim>) {
        const at = yield* now
        const rows = yield* claimedRows(sql`
          WITH wanted AS (
            SELECT h.id, h.host, h.scheme, h.paused_by, w.rows,
              h.failed_days <> '{}' OR h.paused_by IS NOT NULL OR h.succeeded_at IS NULL
                OR h.succeeded_at < ${new Date(at.getTime() - successMillis)} AS troubled
            FROM unnest(${claims.map(({ host }) => host)}::text[], ${
          claims.map(({ rows }) => rows)
        }::int[]) w (host, rows)
            JOIN hosts h ON h.host = w.host WHERE h.paused_by IS DISTINCT FROM 'operator'),
          taken AS MATERIALIZED (
            SELECT d.inbox_id, d.about, d.activity_id, w.host, w.scheme, w.troubled
            FROM wanted w CROSS JOIN LATERAL (
              SELECT d.inbox_id, d.about, d.activity_id FROM deliveries d
              WHERE d.host_id = w.id AND d.due_at <= ${at}
                AND (w.paused_by IS NULL
                  OR EXISTS (SELECT FROM outgoing_activities a WHERE a.id = d.activity_id AND a.type = 'Follow'))
                AND NOT EXISTS (SELECT FROM deliveries e
                  WHERE e.inbox_id = d.inbox_id AND e.about = d.about AND e.activity_id < d.activity_id)
              ORDER BY d.due_at LIMIT w.rows FOR UPDATE OF d SKIP LOCKED) d)
          UPDATE deliveries d SET tries = d.tries + 1, due_at = ${new Date(at.getTime() + claimMillis)}
          FROM taken k JOIN inboxes i ON i.id = k.inbox_id
          WHERE ${isSame}
          RETURNING d.inbox_id, d.about, d.activity_id, d.tries, i.url, i.gone_at IS NOT NULL AS gone, k.host, k.scheme, k.troubled`)
        const found = yield* texts(rows.map(({ activityId }) => activityId))
        const complete = rows.flatMap((row) => {
          const text = found.get(row.activityId)
          return text === undefined ? [] : [{ ...row, ...text }]
        })
        return Map.groupBy(complete, ({ host }) => host)
      })

      const complete = traced("Deliveries.complete")(function*(over: ReadonlyArray<CompletedDelivery>) {
        if (over.length === 0) return
        const refused = new Map(over.filter(({ refusal }) => refusal !== undefined).map((one) => [one.inboxId, one]))
        if (refused.size > 0) {
          const last = [...refused.values()]
          yield* sql`UPDATE inboxes i SET refused_at = ${yield* now}, refused_about = k.about, refusal = k.refusal
            FROM unnest(${last.map(({ inboxId }) => inboxId)}::int[], ${last.map(({ about }) => about)}::bigint[],
              ${last.map(({ refusal }) => refusal)}::text[]) k (inbox_id, about, refusal) WHERE i.id = k.inbox_id`
        }
        yield* sql`WITH gone AS (
            DELETE FROM deliveries d USING ${keyed(over)} k (inbox_id, about, activity_id) WHERE ${isSame}
            RETURNING d.inbox_id, d.about, d.activity_id, d.error)
          UPDATE deliveries d SET due_at = ${yield* now} FROM gone k WHERE k.error IS NOT NULL AND ${isBehind}`
      }, retrying)

      const retry = traced("Deliveries.retry")(function*(failed: ReadonlyArray<FailedDelivery>) {
        if (failed.length === 0) return
        yield* sql`WITH failed AS (
            UPDATE deliveries d SET due_at = k.due_at, error = k.error FROM ${claimed(failed)},
              ${failed.map(({ error }) => error)}::text[]) k (inbox_id, about, activity_id, tries, due_at, error)
            WHERE ${isSame} AND d.tries = k.tries RETURNING d.inbox_id, d.about, d.activity_id, d.due_at)
          UPDATE deliveries d SET due_at = k.due_at FROM failed k WHERE ${isBehind} AND d.due_at < k.due_at`
      }, retrying)

      const due = traced("Deliveries.due")(function*(after: number, hosts: number) {
        // Skips from host to host in the index, however many deliveries each has.
        const rows = yield* hostRows(sql`
          WITH RECURSIVE walk AS (
            (SELECT host_id, due_at FROM deliveries WHERE host_id > ${after} ORDER BY host_id, due_at LIMIT 1)
            UNION ALL
            SELECT n.host_id, n.due_at FROM walk w CROSS JOIN LATERAL (SELECT host_id, due_at FROM deliveries
              WHERE host_id > w.host_id ORDER BY host_id, due_at LIMIT 1) n)
          SELECT h.id, h.host, w.due_at <= ${yield* now} AND h.paused_by IS DISTINCT FROM 'operator' AS due
          FROM (SELECT * FROM walk LIMIT ${rowsMax(sql, hosts)}) w JOIN hosts h ON h.id = w.host_id ORDER BY h.id`)
        return {
          hosts: rows.flatMap(({ due, host }) => due ? [host] : []),
          last: rows.length < hosts ? undefined : rows.at(-1)?.id
        }
      })

      let swept = 0n
      const sweep = traced("Deliveries.sweep")(function*(rows: number) {
        const millis = yield* Clock.currentTimeMillis
        const scanned = yield* activityRows(sql`
          SELECT id, created_at < ${new Date(millis - deliveryMillisMax)} AS old FROM outgoing_activities
          WHERE id > ${swept} AND created_at < ${new Date(millis - claimMillis)} ORDER BY id LIMIT ${
          rowsMax(sql, rows)
        }`)
        swept = scanned.length < rows ? 0n : scanned.at(-1)?.id ?? 0n
        const old = scanned.flatMap(({ id, old }) => old ? [id] : [])
        if (old.length > 0) yield* sql`DELETE FROM deliveries WHERE activity_id = ANY (${old}::bigint[])`
        // Keeps the text of an activity that is still being expanded.
        yield* sql`DELETE FROM outgoing_activities a WHERE id = ANY (${scanned.map(({ id }) => id)}::bigint[])
          AND NOT EXISTS (SELECT FROM deliveries WHERE activity_id = a.id)
          AND NOT EXISTS (SELECT FROM fanouts WHERE id = a.fanout_id)`
      })

      const backlog = Effect.gen(function*() {
        const millis = yield* Clock.currentTimeMillis
        const { count, oldest } = singleRow(
          yield* backlogRows(sql`SELECT
            (SELECT count(*)::int FROM (SELECT FROM deliveries LIMIT ${rowsMax(sql, countedMax)}) waiting) AS count,
            (SELECT created_at FROM outgoing_activities WHERE id = (SELECT min(activity_id) FROM deliveries)) AS oldest`)
        )
        return { count, oldestMillis: oldest === null ? 0 : Math.max(0, millis - oldest.getTime()) }
      })

      return Deliveries.of({
        claim,
        complete,
        retry,
        release: traced("Deliveries.release")((untried) =>
          untried.length === 0 ? Effect.void : Effect.asVoid(retrying(sql`
            UPDATE deliveries d SET tries = d.tries - 1, due_at = k.due_at
            FROM ${claimed(untried)}) k (inbox_id, about, activity_id, tries, due_at)
            WHERE ${isSame} AND d.tries = k.tries`))
        ),
        failInbox: traced("Deliveries.failInbox")(function*(inboxId) {
          yield* sql`UPDATE inboxes SET gone_at = ${yield* now} WHERE id = ${inboxId}`
          yield* sql`DELETE FROM deliveries WHERE inbox_id = ${inboxId}`
        }, retrying),
        reviveInbox: traced("Deliveries.reviveInbox")((inboxId) =>
          Effect.asVoid(sql`UPDATE inboxes SET gone_at = NULL WHERE id = ${inboxId}`)
        ),
        due,
        sweep,
        backlog
      })
    })
  )
}
