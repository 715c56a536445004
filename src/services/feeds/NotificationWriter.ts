import { Clock, Context, Effect, Layer, Schema, Struct } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import type { Fragment } from "effect/sql/Statement"
import { batchRequestsOrSingle } from "../database/Batches.ts"
import { AccountId } from "../database/Ids.ts"
import { rowsMax } from "../database/Paging.ts"
import { rowsOf } from "../database/Rows.ts"
import { Broadcast } from "../events/Broadcast.ts"
import type { Owner } from "../intents/Commands.ts"
import { completing, type Completion, completionsMax } from "../intents/Fanouts.ts"
import type { NewNotification } from "../intents/Intent.ts"
import {
  type CollectionType,
  type NotificationType,
  notificationTypes,
  onDemandTypes,
  staffOf,
  type StaffType,
  type StatusType,
  usesReportId
} from "../notifications/NotificationTypes.ts"
import { traced } from "../runtime/Traced.ts"
import { currentTraceParent, type TraceParent } from "../runtime/TraceParents.ts"
import { givenBits, permissions } from "../staff/Permissions.ts"
import { notificationCtes, type PendingNotification, validNotifications } from "./NewNotifications.ts"
import { isOf, ofFollows } from "./NotificationConditions.ts"

/** Maximum staff members that are notified. */
const staffMax = 500

/** A notification newly written by the statement. */
const Written = Schema.Struct({
  id: Schema.BigInt,
  accountId: AccountId,
  type: Schema.String,
  filtered: Schema.Boolean
})
type Written = typeof Written.Type
const writtenRows = rowsOf(Written)

interface Owned extends PendingNotification {
  readonly owner: Owner
  readonly traceParent: TraceParent
}

/** Result of a statement that completes an intent: the notification that it wrote, or nulls. */
const Completed = Written.mapFields(Struct.map(Schema.NullOr))
const completedRows = rowsOf(Completed)
const keyedRows = rowsOf(Schema.Struct({ ...Completed.fields, key: Schema.BigInt }))
const writtenOf = ({ accountId, filtered, id, type }: typeof Completed.Type): ReadonlyArray<Written> =>
  id === null || accountId === null || type === null || filtered === null ? [] : [{ id, accountId, type, filtered }]

/**
 * Writes notifications, each once per type, sender, recipient and subject; streams them after the commit. Every write
 * checks in SQL who may have it, by the table of types. A command that removes the subject (a favourite, a follow) does
 * so first and retracts the notifications after that, so that none is written in between.
 */
export class NotificationWriter extends Context.Service<NotificationWriter, {
  /** Notifies if the subject still exists. */
  readonly notify: (from: bigint, notification: NewNotification) => Effect.Effect<void, SqlError>
  /**
   * Like `notify`, in one statement that also completes its intent; false if the owner was fenced off. Outside of
   * transactions; concurrent calls are batched.
   */
  readonly notifyAndComplete: (
    from: bigint,
    notification: NewNotification,
    completion: Completion
  ) => Effect.Effect<boolean, SqlError>
  /** Notifies the `readers` of a status. */
  readonly notifyReaders: (
    type: StatusType,
    from: bigint,
    statusId: bigint,
    readers: ReadonlyArray<bigint>
  ) => Effect.Effect<void, SqlError>
  /** Like `notifyReaders`, in one statement with `completing`, whose row allows it; false without that row. */
  readonly notifyReadersAndComplete: (
    type: StatusType,
    from: bigint,
    statusId: bigint,
    readers: ReadonlyArray<bigint>,
    completing: Fragment
  ) => Effect.Effect<boolean, SqlError>
  /** Notifies accounts that boosted or quoted a status of its edit. */
  readonly notifyOfEdit: (from: bigint, statusId: bigint) => Effect.Effect<void, SqlError>
  /** Notifies accounts of a collection. */
  readonly notifyAbout: (
    type: CollectionType,
    from: bigint,
    collectionId: bigint,
    recipients: ReadonlyArray<bigint>
  ) => Effect.Effect<void, SqlError>
  /** Notifies the staff members who may have this type. */
  readonly notifyStaff: (type: StaffType, from: bigint, subjectId: bigint) => Effect.Effect<void, SqlError>
  /** Notifies each account of its own subject, as its own sender. */
  readonly notifyOwners: (
    type: NotificationType,
    subjects: ReadonlyArray<{ readonly id: bigint; readonly accountId: bigint }>
  ) => Effect.Effect<void, SqlError>
  /** Deletes all notifications of deleted statuses. */
  readonly retract: (statuses: ReadonlyArray<bigint>) => Effect.Effect<void, SqlError>
  /** Deletes the notification of an act on a status that was undone. */
  readonly retractOne: (type: StatusType, from: bigint, statusId: bigint) => Effect.Effect<void, SqlError>
  /** Deletes notifications that ended with a follow or a follow request. */
  readonly retractFollow: (from: bigint, to: bigint) => Effect.Effect<void, SqlError>
}>()("murmuration/services/feeds/NotificationWriter") {
  static readonly layer = Layer.effect(
    NotificationWriter,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const broadcast = yield* Broadcast

      const streamed = (written: ReadonlyArray<Written>) =>
        sql.afterCommit(
          Effect.forEach(
            // Filtered notifications are not streamed.
            written.filter(({ filtered }) => !filtered),
            ({ accountId, id, type }) =>
              broadcast.publish({
                _tag: "NotificationCreated",
                accountId,
                notificationId: id,
                ...(onDemandTypes.some((one) => one === type) && { onDemand: type })
              }),
            { discard: true }
          )
        )

      // Locks the subject: a command that removes it waits, and then retracts this notification, too.
      const writing = Effect.fnUntraced(function*(types: ReadonlyArray<NotificationType>, recipients: Fragment) {
        const now = yield* Clock.currentTimeMillis
        const parent = sql`${yield* currentTraceParent}::text`
        return yield* writtenRows(sql`WITH ${notificationCtes(sql, types, recipients, now, parent)}
          SELECT id, account_id, type, filtered FROM told`)
      })
      const of = (type: NotificationType, from: bigint, subject: bigint, recipients: Fragment) =>
        sql`SELECT w.account_id, ${type}::text AS type, ${from}::bigint AS from_id, ${subject}::bigint AS ${
          sql.literal(usesReportId(type) ? "report_id, 0::bigint AS status_id" : "status_id")
        } FROM (${recipients}) w`
      const write = Effect.fnUntraced(
        function*(type: NotificationType, from: bigint, subject: bigint, recipients: Fragment) {
          yield* streamed(yield* writing([type], of(type, from, subject, recipients)))
        }
      )
      const readersOf = (readers: ReadonlyArray<bigint>) =>
        sql`SELECT unnest(${[...new Set(readers)]}::bigint[]) AS account_id`

      /** SQL of the `TraceParent` of pushes about `wanted` notifications. */
      const parentOf = (reasons: ReadonlyArray<Owned>) => {
        const [first = null, ...others] = new Set(reasons.map(({ traceParent }) => traceParent))
        return others.length === 0 ? sql`${first}::text` : sql`(SELECT p.parent FROM wanted w
          JOIN unnest(${reasons.map(({ key }) => key)}::bigint[],
            ${reasons.map(({ traceParent }) => traceParent)}::text[]) p (key, parent) ON p.key = w.key
          WHERE w.account_id = told.account_id AND w.type = told.type AND w.from_id = told.from_account_id
            AND w.status_id = told.status_id LIMIT 1)`
      }

      const tellAndComplete = batchRequestsOrSingle(
        { max: completionsMax },
        Effect.fnUntraced(function*(reasons: ReadonlyArray<Owned>) {
          const now = yield* Clock.currentTimeMillis
          const completed = completing(sql, reasons.map(({ key, owner }) => ({ id: key, owner })))
          const rows = yield* keyedRows(sql`
          WITH completed AS (${completed}),
          wanted AS MATERIALIZED (SELECT s.* FROM (${
            validNotifications(sql, reasons)
          }) s JOIN completed ON completed.id = s.key),
          ${notificationCtes(sql, notificationTypes, sql`SELECT * FROM wanted`, now, parentOf(reasons))}
          SELECT completed.id AS key, told.id, told.account_id, told.type, told.filtered
          FROM completed LEFT JOIN wanted ON wanted.key = completed.id
          LEFT JOIN told ON told.account_id = wanted.account_id AND told.type = wanted.type
            AND told.from_account_id = wanted.from_id AND told.status_id = wanted.status_id`)
          const rowByKey = new Map(rows.map((row) => [row.key, row]))
          return ({ key }: Owned) => {
            const row = rowByKey.get(key)
            return row && writtenOf(row)
          }
        })
      )
      /** Streams what was written; returns true if the intent was completed. */
      const completed = (written: ReadonlyArray<Written> | undefined) =>
        written === undefined ? Effect.succeed(false) : Effect.as(streamed(written), true)

      return NotificationWriter.of({
        notify: traced("NotificationWriter.notify")(function*(from, notification) {
          yield* streamed(
            yield* writing(notificationTypes, validNotifications(sql, [{ key: 0n, from, notification }]))
          )
        }),
        notifyAndComplete: traced("NotificationWriter.notifyAndComplete")((from, notification, { id, owner }) =>
          Effect.flatMap(
            currentTraceParent,
            (traceParent) =>
              Effect.flatMap(tellAndComplete({ key: id, owner, from, notification, traceParent }), completed)
          )
        ),
        notifyReaders: traced("NotificationWriter.notifyReaders")((type, from, statusId, readers) =>
          write(type, from, statusId, readersOf(readers))
        ),
        notifyReadersAndComplete: traced("NotificationWriter.notifyReadersAndComplete")(
          function*(type, from, statusId, readers, completing) {
            const now = yield* Clock.currentTimeMillis
            const parent = sql`${yield* currentTraceParent}::text`
            const allowed = of(type, from, statusId, sql`SELECT w.account_id FROM completed, (${readersOf(readers)}) w`)
            const rows = yield* completedRows(sql`
              WITH completed AS (${completing}), ${notificationCtes(sql, [type], allowed, now, parent)}
              SELECT told.id, told.account_id, told.type, told.filtered FROM completed LEFT JOIN told ON true`)
            return yield* completed(rows.length === 0 ? undefined : rows.flatMap(writtenOf))
          }
        ),
        notifyAbout: traced("NotificationWriter.notifyAbout")((type, from, collectionId, recipients) =>
          recipients.length === 0 ? Effect.void : write(type, from, collectionId, readersOf(recipients))
        ),
        notifyOfEdit: traced("NotificationWriter.notifyOfEdit")(function*(from, statusId) {
          const concerned =
            sql`SELECT account_id, 'update' AS type, ${from}::bigint AS from_id, ${statusId}::bigint AS status_id
              FROM statuses WHERE reblog_of_id = ${statusId} AND deleted_at IS NULL
            UNION ALL SELECT account_id, 'quoted_update', ${from}::bigint, status_id
              FROM quotes WHERE quoted_status_id = ${statusId} AND state = 'accepted'`
          yield* streamed(yield* writing(["update", "quoted_update"], concerned))
        }),
        notifyStaff: traced("NotificationWriter.notifyStaff")((type, from, subjectId) => {
          const needed = permissions[staffOf(type)] | permissions.administrator
          return write(
            type,
            from,
            subjectId,
            sql`SELECT u.account_id FROM users u JOIN roles r ON r.id = u.role_id
            WHERE (${sql.literal(givenBits)}) & ${needed}::bigint <> 0
              AND u.confirmed_at IS NOT NULL AND u.approved AND NOT u.disabled AND u.account_id <> ${from}
            ORDER BY u.account_id LIMIT ${rowsMax(sql, staffMax)}`
          )
        }),
        notifyOwners: traced("NotificationWriter.notifyOwners")(function*(type, subjects) {
          if (subjects.length === 0) return
          const owned = sql`SELECT account_id, ${type}::text AS type, account_id AS from_id, id AS status_id
            FROM unnest(${subjects.map(({ id }) => id)}::bigint[],
              ${subjects.map(({ accountId }) => accountId)}::bigint[]) AS given (id, account_id)`
          yield* streamed(yield* writing([type], owned))
        }),
        retract: traced("NotificationWriter.retract")((statuses) =>
          statuses.length === 0
            ? Effect.void
            : Effect.asVoid(
              sql`DELETE FROM notifications WHERE status_id = ANY (${statuses}::bigint[]) AND status_id <> 0`
            )
        ),
        retractOne: traced("NotificationWriter.retractOne")((type, from, statusId) =>
          Effect.asVoid(sql`DELETE FROM notifications WHERE status_id = ${statusId} AND status_id <> 0
            AND type = ${type} AND from_account_id = ${from}`)
        ),
        retractFollow: traced("NotificationWriter.retractFollow")((from, to) =>
          Effect.asVoid(sql`DELETE FROM notifications WHERE account_id = ${to} AND from_account_id = ${from}
            AND ${isOf(sql, "notifications", ofFollows)}`)
        )
      })
    })
  )
}
