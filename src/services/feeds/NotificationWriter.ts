import { Clock, Context, Effect, Layer, Schema, Struct } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import type { Fragment } from "effect/sql/Statement"
import { gatheredOrAlone } from "../Batches.ts"
import { Broadcast } from "../Broadcast.ts"
import { AccountId } from "../Ids.ts"
import type { Owner } from "../intents/Commands.ts"
import { completing, type Completion, completionsMax } from "../intents/Fanouts.ts"
import type { NewNotification } from "../intents/Intent.ts"
import {
  type CollectionType,
  isBesideStatuses,
  type NotificationType,
  notificationTypes,
  onDemandTypes,
  staffOf,
  type StaffType,
  type StatusType
} from "../NotificationTypes.ts"
import { rowsMax } from "../Paging.ts"
import { rowsOf } from "../Rows.ts"
import { givenBits, permissions } from "../staff/Permissions.ts"
import { traced } from "../Traced.ts"
import { type Reason, standing, telling } from "./NewNotifications.ts"
import { isOf, ofFollows } from "./NotificationConditions.ts"

/** People of staff who are told of one thing. */
const staffMax = 500

/** A notification that was written now, not before. */
const Written = Schema.Struct({
  id: Schema.BigInt,
  accountId: AccountId,
  type: Schema.String,
  filtered: Schema.Boolean
})
type Written = typeof Written.Type
const writtenRows = rowsOf(Written)

interface Owned extends Reason {
  readonly owner: Owner
}

/** What a statement that completes intents wrote beside that, if anything. */
const Completed = Written.mapFields(Struct.map(Schema.NullOr))
const completedRows = rowsOf(Completed)
const keyedRows = rowsOf(Schema.Struct({ ...Completed.fields, key: Schema.BigInt }))
const writtenOf = ({ accountId, filtered, id, type }: typeof Completed.Type): ReadonlyArray<Written> =>
  id === null || accountId === null || type === null || filtered === null ? [] : [{ id, accountId, type, filtered }]

/**
 * Writes notifications, each once: one a type, sender, recipient and subject; and tells streams of them once they are
 * committed. Every write asks again, in SQL, what the table of types says of who may have it. A command that takes back
 * the subject (a favourite, a follow) ends that first and retracts the notifications after it, so that none is written
 * in between.
 */
export class NotificationWriter extends Context.Service<NotificationWriter, {
  /** Only while what it tells of still stands. */
  readonly tell: (from: bigint, notification: NewNotification) => Effect.Effect<void, SqlError>
  /**
   * The same in one statement that completes the intent to do so; false where its owner does not own it any more. In no
   * transaction, and many at once.
   */
  readonly tellAndComplete: (
    from: bigint,
    notification: NewNotification,
    completion: Completion
  ) => Effect.Effect<boolean, SqlError>
  /** Tells the `readers` of a status. */
  readonly tellReaders: (
    type: StatusType,
    from: bigint,
    statusId: bigint,
    readers: ReadonlyArray<bigint>
  ) => Effect.Effect<void, SqlError>
  /** The same in one statement with `completing`, whose row is what allows it; false where that gives none. */
  readonly tellReadersAndComplete: (
    type: StatusType,
    from: bigint,
    statusId: bigint,
    readers: ReadonlyArray<bigint>,
    completing: Fragment
  ) => Effect.Effect<boolean, SqlError>
  /** Tells who reblogged or quotes a status that it was edited. */
  readonly edited: (from: bigint, statusId: bigint) => Effect.Effect<void, SqlError>
  /** Tells people of a collection of accounts. */
  readonly tellAbout: (
    type: CollectionType,
    from: bigint,
    collectionId: bigint,
    recipients: ReadonlyArray<bigint>
  ) => Effect.Effect<void, SqlError>
  /** Tells those of staff who may have a notification of this type. */
  readonly tellStaff: (type: StaffType, from: bigint, subjectId: bigint) => Effect.Effect<void, SqlError>
  /** Tells each account of a subject of its own, as its own sender. */
  readonly tellOwners: (
    type: NotificationType,
    subjects: ReadonlyArray<{ readonly id: bigint; readonly accountId: bigint }>
  ) => Effect.Effect<void, SqlError>
  /** Takes back all that was told of deleted statuses. */
  readonly retract: (statuses: ReadonlyArray<bigint>) => Effect.Effect<void, SqlError>
  /** Takes back what somebody did with a status and undid. */
  readonly retractOne: (type: StatusType, from: bigint, statusId: bigint) => Effect.Effect<void, SqlError>
  /** Takes back what stood while one of two accounts followed the other, or asked to. */
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
            // Of what is filtered nobody hears before they ask.
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

      // Locks the subject: a command that takes it back waits, and retracts this notification, too.
      const writing = (types: ReadonlyArray<NotificationType>, recipients: Fragment, now: number) =>
        sql`WITH ${telling(sql, types, recipients, now)} SELECT id, account_id, type, filtered FROM told`
      const of = (type: NotificationType, from: bigint, subject: bigint, recipients: Fragment) =>
        sql`SELECT w.account_id, ${type}::text AS type, ${from}::bigint AS from_id, ${subject}::bigint AS ${
          sql.literal(isBesideStatuses(type) ? "report_id, 0::bigint AS status_id" : "status_id")
        } FROM (${recipients}) w`
      const write = Effect.fnUntraced(
        function*(type: NotificationType, from: bigint, subject: bigint, recipients: Fragment) {
          const now = yield* Clock.currentTimeMillis
          yield* streamed(yield* writtenRows(writing([type], of(type, from, subject, recipients), now)))
        }
      )
      const readersOf = (readers: ReadonlyArray<bigint>) =>
        sql`SELECT unnest(${[...new Set(readers)]}::bigint[]) AS account_id`

      const tellAndComplete = gatheredOrAlone(
        { max: completionsMax },
        Effect.fnUntraced(function*(reasons: ReadonlyArray<Owned>) {
          const now = yield* Clock.currentTimeMillis
          const completed = completing(sql, reasons.map(({ key, owner }) => ({ id: key, owner })))
          const rows = yield* keyedRows(sql`
          WITH completed AS (${completed}),
          wanted AS MATERIALIZED (SELECT s.* FROM (${standing(sql, reasons)}) s JOIN completed ON completed.id = s.key),
          ${telling(sql, notificationTypes, sql`SELECT * FROM wanted`, now)}
          SELECT completed.id AS key, told.id, told.account_id, told.type, told.filtered
          FROM completed LEFT JOIN wanted ON wanted.key = completed.id
          LEFT JOIN told ON told.account_id = wanted.account_id AND told.type = wanted.type
            AND told.from_account_id = wanted.from_id AND told.status_id = wanted.status_id`)
          const answers = new Map(rows.map((row) => [row.key, row]))
          return ({ key }: Owned) => {
            const row = answers.get(key)
            return row && writtenOf(row)
          }
        })
      )
      /** Whether the intent was completed; what was written with that is told to streams. */
      const completed = (written: ReadonlyArray<Written> | undefined) =>
        written === undefined ? Effect.succeed(false) : Effect.as(streamed(written), true)

      return NotificationWriter.of({
        tell: traced("NotificationWriter.tell")(function*(from, notification) {
          const now = yield* Clock.currentTimeMillis
          yield* streamed(
            yield* writtenRows(writing(notificationTypes, standing(sql, [{ key: 0n, from, notification }]), now))
          )
        }),
        tellAndComplete: traced("NotificationWriter.tellAndComplete")((from, notification, { id, owner }) =>
          Effect.flatMap(tellAndComplete({ key: id, owner, from, notification }), completed)
        ),
        tellReaders: traced("NotificationWriter.tellReaders")((type, from, statusId, readers) =>
          write(type, from, statusId, readersOf(readers))
        ),
        tellReadersAndComplete: traced("NotificationWriter.tellReadersAndComplete")(
          function*(type, from, statusId, readers, completing) {
            const now = yield* Clock.currentTimeMillis
            const allowed = of(type, from, statusId, sql`SELECT w.account_id FROM completed, (${readersOf(readers)}) w`)
            const rows = yield* completedRows(sql`
              WITH completed AS (${completing}), ${telling(sql, [type], allowed, now)}
              SELECT told.id, told.account_id, told.type, told.filtered FROM completed LEFT JOIN told ON true`)
            return yield* completed(rows.length === 0 ? undefined : rows.flatMap(writtenOf))
          }
        ),
        tellAbout: traced("NotificationWriter.tellAbout")((type, from, collectionId, recipients) =>
          recipients.length === 0 ? Effect.void : write(type, from, collectionId, readersOf(recipients))
        ),
        edited: traced("NotificationWriter.edited")(function*(from, statusId) {
          const now = yield* Clock.currentTimeMillis
          const concerned =
            sql`SELECT account_id, 'update' AS type, ${from}::bigint AS from_id, ${statusId}::bigint AS status_id
              FROM statuses WHERE reblog_of_id = ${statusId} AND deleted_at IS NULL
            UNION ALL SELECT account_id, 'quoted_update', ${from}::bigint, status_id
              FROM quotes WHERE quoted_status_id = ${statusId} AND state = 'accepted'`
          yield* streamed(yield* writtenRows(writing(["update", "quoted_update"], concerned, now)))
        }),
        tellStaff: traced("NotificationWriter.tellStaff")((type, from, subjectId) => {
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
        tellOwners: traced("NotificationWriter.tellOwners")(function*(type, subjects) {
          if (subjects.length === 0) return
          const now = yield* Clock.currentTimeMillis
          const owned = sql`SELECT account_id, ${type}::text AS type, account_id AS from_id, id AS status_id
            FROM unnest(${subjects.map(({ id }) => id)}::bigint[],
              ${subjects.map(({ accountId }) => accountId)}::bigint[]) AS given (id, account_id)`
          yield* streamed(yield* writtenRows(writing([type], owned, now)))
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
