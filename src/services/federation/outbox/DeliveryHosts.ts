import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { rowsMax } from "../../database/Paging.ts"
import { rowsOf } from "../../database/Rows.ts"
import { boundedMap } from "../../runtime/BoundedMap.ts"
import { traced } from "../../runtime/Traced.ts"
import type { Scheme } from "../signatures/Signatures.ts"

/**
 * Number of days with failures, without a success between them, after which a host gets nothing until it sends
 * something.
 */
export const failedDaysMax = 7
/** Accuracy of a host's last success, in milliseconds. */
export const successMillis = 3_600_000
/**
 * Minimum time between records of a host that sends something, in milliseconds, and maximum hosts remembered for this.
 */
const contactMillis = 60_000
const lastContactsMax = 10_000
/** Delay until an inbox that replied 410 is tried again, in milliseconds, if its host sends something. */
const goneMillis = 24 * 3_600_000
/** Maximum deliveries deleted per statement. */
const forgottenMax = 1_000

/** Reason for a pause: an operator, or failures. */
export const PausedBy = Schema.Literals(["operator", "failures"])
const failureRows = rowsOf(Schema.Struct({ days: Schema.Int, pausedBy: Schema.NullOr(PausedBy) }))

/** Other servers as receivers of deliveries. */
export class DeliveryHosts extends Context.Service<DeliveryHosts, {
  /** Records successes and ends pauses by failures. `scheme` is the signature scheme that was accepted. */
  readonly succeeded: (
    hosts: ReadonlyArray<{ readonly host: string; readonly scheme: Scheme }>
  ) => Effect.Effect<void, SqlError>
  /** Records a failed day; true if the host is given up. Its deliveries are then deleted. */
  readonly failed: (host: string, why: string) => Effect.Effect<boolean, SqlError>
  /** Records that the host sent something signed, so it is alive. Costs nothing if that was recorded recently. */
  readonly recordContact: (host: string) => Effect.Effect<void, SqlError>
  /** Returns false if the host is unknown. */
  readonly pause: (host: string) => Effect.Effect<boolean, SqlError>
  /** Ends every pause, and tries inboxes again that replied 410. */
  readonly resume: (host: string) => Effect.Effect<boolean, SqlError>
}>()("murmuration/services/federation/outbox/DeliveryHosts") {
  static readonly layer = Layer.effect(
    DeliveryHosts,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const now = Effect.map(Clock.currentTimeMillis, (millis) => new Date(millis))
      const lastContacts = boundedMap<string, number>(lastContactsMax)
      const some = (rows: ReadonlyArray<unknown>) => rows.length > 0

      /** Keeps Follows, which test whether the host is back. */
      const forget = Effect.fnUntraced(function*(host: string) {
        const round = sql`DELETE FROM deliveries WHERE (inbox_id, about, activity_id) IN (
          SELECT d.inbox_id, d.about, d.activity_id FROM hosts h JOIN deliveries d ON d.host_id = h.id
          JOIN outgoing_activities a ON a.id = d.activity_id
          WHERE h.host = ${host} AND a.type <> 'Follow' LIMIT ${rowsMax(sql, forgottenMax)}) RETURNING 1`
        let deleted = forgottenMax
        while (deleted === forgottenMax) deleted = (yield* round).length
      })

      /**
       * Enables inboxes that were gone before a time, in milliseconds since 1970: a server may reply 410 by mistake.
       */
      const revive = (host: string, before: number) =>
        sql`UPDATE inboxes i SET gone_at = NULL FROM hosts h
          WHERE h.host = ${host} AND i.host_id = h.id AND i.gone_at <= ${new Date(before)}`

      const failed = traced("DeliveryHosts.failed")(function*(host: string, why: string) {
        const at = yield* now
        const [row] = yield* failureRows(sql`
          UPDATE hosts SET last_error = ${why}, failed_days = CASE WHEN ${at}::timestamptz::date = ANY (failed_days)
            THEN failed_days ELSE failed_days || ${at}::timestamptz::date END
          WHERE host = ${host} RETURNING cardinality(failed_days) AS days, paused_by`)
        if (row === undefined || row.pausedBy !== null || row.days < failedDaysMax) return row?.pausedBy === "failures"
        yield* sql`UPDATE hosts SET paused_at = ${at}, paused_by = 'failures' WHERE host = ${host}`
        yield* forget(host)
        return true
      })

      const recordContact = traced("DeliveryHosts.recordContact")(function*(host: string) {
        const millis = yield* Clock.currentTimeMillis
        const before = lastContacts.get(host)
        if (before !== undefined && millis - before < contactMillis && millis >= before) return
        lastContacts.set(host, millis)
        yield* sql`UPDATE hosts SET failed_days = '{}', paused_at = CASE WHEN paused_by = 'failures' THEN NULL ELSE paused_at END,
            paused_by = nullif(paused_by, 'failures')
          WHERE host = ${host} AND (failed_days <> '{}' OR paused_by = 'failures')`
        yield* revive(host, millis - goneMillis)
      })

      return DeliveryHosts.of({
        succeeded: traced("DeliveryHosts.succeeded")(function*(taken) {
          if (taken.length === 0) return
          yield* sql`UPDATE hosts h SET scheme = k.scheme, succeeded_at = ${yield* now}, failed_days = '{}', last_error = NULL,
              paused_at = CASE WHEN paused_by = 'failures' THEN NULL ELSE paused_at END,
              paused_by = nullif(paused_by, 'failures')
            FROM unnest(${taken.map(({ host }) => host)}::text[], ${
            taken.map(({ scheme }) => scheme)
          }::text[]) k (host, scheme)
            WHERE h.host = k.host`
        }),
        failed,
        recordContact: recordContact,
        pause: traced("DeliveryHosts.pause")(function*(host) {
          return some(
            yield* sql`UPDATE hosts SET paused_at = ${yield* now}, paused_by = 'operator' WHERE host = ${host} RETURNING id`
          )
        }),
        resume: traced("DeliveryHosts.resume")(function*(host) {
          yield* revive(host, yield* Clock.currentTimeMillis)
          return some(
            yield* sql`UPDATE hosts SET paused_at = NULL, paused_by = NULL, failed_days = '{}' WHERE host = ${host} RETURNING id`
          )
        })
      })
    })
  )
}
