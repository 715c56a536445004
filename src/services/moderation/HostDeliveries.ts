import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { boundedCount } from "../database/BoundedCounts.ts"
import type { AccountId } from "../database/Ids.ts"
import { clauses, newestFirst, type Page, rowsMax } from "../database/Paging.ts"
import { rowsOf, Timestamptz } from "../database/Rows.ts"
import { transaction } from "../database/Transactions.ts"
import { validDomain } from "../federation/domains/RuledDomain.ts"
import { DeliveryHosts, PausedBy } from "../federation/outbox/DeliveryHosts.ts"
import { countedMax } from "../federation/outbox/Queues.ts"
import { RecordNotFound, type Unprocessable } from "../runtime/Errors.ts"
import { traced } from "../runtime/Traced.ts"
import { AuditLog } from "../staff/AuditLog.ts"

const DeliveryHost = Schema.Struct({
  /** Cursor of the list. */
  id: Schema.BigInt,
  host: Schema.String,
  pausedBy: Schema.NullOr(PausedBy),
  failedDays: Schema.Int,
  error: Schema.NullOr(Schema.String),
  succeededAt: Schema.NullOr(Timestamptz),
  /** Pending deliveries, counted up to `countedMax`. */
  waiting: Schema.Int
})
export type DeliveryHost = typeof DeliveryHost.Type
const hostRows = rowsOf(DeliveryHost)

type Changed = Effect.Effect<DeliveryHost, Unprocessable | RecordNotFound>

/** Deliveries to a server, for staff to see and control. Actions are in the audit log. */
export class HostDeliveries extends Context.Service<HostDeliveries, {
  /** Lists hosts; if `failing`, only those with failures or stopped ones. */
  readonly page: (page: Page, failing: boolean) => Effect.Effect<ReadonlyArray<DeliveryHost>>
  /** Number of hosts, as counted by `boundedCount`. */
  readonly total: (failing: boolean) => Effect.Effect<number>
  readonly find: (domain: string) => Changed
  /** Stops deliveries until a restart. */
  readonly stop: (by: AccountId, domain: string) => Changed
  /** Retries pending deliveries, including those to inboxes that were gone. */
  readonly restart: (by: AccountId, domain: string) => Changed
  /** Clears failures; a host stopped by staff stays stopped. */
  readonly clear: (by: AccountId, domain: string) => Changed
}>()("murmuration/services/moderation/HostDeliveries") {
  static readonly layer = Layer.effect(
    HostDeliveries,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const audit = yield* AuditLog
      const hosts = yield* DeliveryHosts

      const columns = sql`h.id::bigint AS id, h.host, h.paused_by, cardinality(h.failed_days) AS failed_days,
        h.last_error AS error, h.succeeded_at, (SELECT count(*)::int FROM (SELECT FROM deliveries d WHERE d.host_id = h.id
          LIMIT ${rowsMax(sql, countedMax)}) waiting) AS waiting`

      const found = Effect.fnUntraced(function*(text: string, locked: boolean) {
        const host = yield* validDomain(text)
        const [row] = yield* hostRows(sql`SELECT ${columns} FROM hosts h WHERE h.host = ${host}
          ${sql.literal(locked ? "FOR UPDATE OF h" : "")}`)
        return row ?? (yield* new RecordNotFound())
      })

      const change = (
        action: "stop" | "restart" | "clear",
        work: (host: string) => Effect.Effect<unknown, SqlError>
      ) =>
        traced(`HostDeliveries.${action}`)((by: AccountId, text: string) =>
          transaction(sql)(Effect.gen(function*() {
            const before = yield* found(text, true)
            yield* work(before.host)
            const after = yield* found(text, false)
            const logged = ({ error, failedDays, pausedBy }: DeliveryHost) => ({ pausedBy, failedDays, error })
            yield* audit.record({
              by,
              action,
              target: { type: "delivery", label: before.host },
              before: logged(before),
              after: logged(after)
            })
            return after
          })).pipe(Effect.catchTag("SqlError", Effect.die))
        )

      const matches = (failing: boolean) =>
        failing ? sql`(h.failed_days <> '{}' OR h.paused_by IS NOT NULL)` : sql`TRUE`

      return HostDeliveries.of({
        page: traced("HostDeliveries.page")((page, failing) => {
          const { tail, where } = clauses(sql, "h.id", page)
          return hostRows(sql`SELECT ${columns} FROM hosts h WHERE ${where} AND ${matches(failing)} ${tail}`).pipe(
            Effect.map((rows) => newestFirst(page, rows)),
            Effect.orDie
          )
        }),
        total: traced("HostDeliveries.total")((failing) =>
          boundedCount(sql)(sql`SELECT FROM hosts h WHERE ${matches(failing)}`)
        ),
        find: traced("HostDeliveries.find")((text) => Effect.catchTag(found(text, false), "SqlError", Effect.die)),
        stop: change("stop", hosts.pause),
        restart: change("restart", (host) =>
          Effect.gen(function*() {
            yield* hosts.resume(host)
            const now = new Date(yield* Clock.currentTimeMillis)
            yield* sql`UPDATE deliveries SET due_at = ${now} WHERE (inbox_id, about, activity_id) IN (
              SELECT d.inbox_id, d.about, d.activity_id FROM deliveries d JOIN hosts h ON h.id = d.host_id
              WHERE h.host = ${host} AND d.due_at > ${now} LIMIT ${rowsMax(sql, countedMax)})`
          })),
        clear: change("clear", (host) =>
          sql`UPDATE hosts SET failed_days = '{}', last_error = NULL,
            paused_at = CASE WHEN paused_by = 'failures' THEN NULL ELSE paused_at END, paused_by = nullif(paused_by, 'failures')
            WHERE host = ${host}`)
      })
    })
  ).pipe(Layer.provide([AuditLog.layer, DeliveryHosts.layer]))
}
