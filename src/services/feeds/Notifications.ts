import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { Fragment } from "effect/sql/Statement"
import type { AccountId } from "../database/Ids.ts"
import { clauses, newestFirst, type Page, rowsMax } from "../database/Paging.ts"
import { rowsOf, Timestamptz } from "../database/Rows.ts"
import { retryDeadlocks } from "../database/Transactions.ts"
import { Broadcast } from "../events/Broadcast.ts"
import { kindOf, type NotificationType, notificationTypes, typesWhere } from "../notifications/NotificationTypes.ts"
import { RecordNotFound } from "../runtime/Errors.ts"
import { traced } from "../runtime/Traced.ts"
import { visibleTo } from "../statuses/Visibility.ts"
import { blocks, isReplyMention, mutesNotification } from "../visibility/HiddenAccounts.ts"
import { isSuspended } from "../visibility/SuspendedAccounts.ts"
import { isOf } from "./NotificationConditions.ts"

/** A notification, with the subject that its type names. */
export interface NotificationRecord {
  readonly id: bigint
  readonly type: NotificationType
  readonly createdAt: Date
  readonly fromAccountId: bigint
  readonly statusId?: bigint | undefined
  readonly severanceId?: bigint | undefined
  readonly warningId?: bigint | undefined
  readonly reportId?: bigint | undefined
  readonly collectionId?: bigint | undefined
  readonly year?: string | undefined
  /** Filtered: shown only on request. */
  readonly filtered: boolean
}

/** Selects notifications; unknown types match nothing. */
export interface NotificationSelection {
  /** Empty for all types. */
  readonly types: ReadonlyArray<string>
  readonly excludeTypes: ReadonlyArray<string>
  /** Only notifications from this account. */
  readonly accountId: bigint | undefined
  /** Includes filtered notifications. */
  readonly includeFiltered: boolean
}

/** All notifications of an account, except filtered ones. */
export const everything: NotificationSelection = {
  types: [],
  excludeTypes: [],
  accountId: undefined,
  includeFiltered: false
}

const lastReadIdRows = rowsOf(Schema.Struct({ lastReadId: Schema.BigInt }))
const countRows = rowsOf(Schema.Struct({ count: Schema.Int }))

/**
 * Reads and deletes an account's notifications. Omits those about a status that the owner may not see (row 62), and
 * those from suspended accounts, or from accounts that the owner blocks or mutes with notifications.
 */
export class Notifications extends Context.Service<Notifications, {
  readonly page: (
    owner: AccountId,
    selection: NotificationSelection,
    page: Page
  ) => Effect.Effect<ReadonlyArray<NotificationRecord>>
  readonly find: (owner: AccountId, id: bigint) => Effect.Effect<NotificationRecord, RecordNotFound>
  /** Returns the notifications among `ids` that are the owner's and may be shown. */
  readonly load: (owner: AccountId, ids: ReadonlyArray<bigint>) => Effect.Effect<ReadonlyArray<NotificationRecord>>
  /** Counts the notifications above the owner's marker, up to `limit`. */
  readonly unread: (owner: AccountId, selection: NotificationSelection, limit: number) => Effect.Effect<number>
  /** Returns the newest unread notifications, `limit` at most. */
  readonly unreadRows: (
    owner: AccountId,
    selection: NotificationSelection,
    limit: number
  ) => Effect.Effect<ReadonlyArray<NotificationRecord>>
  readonly clear: (owner: AccountId) => Effect.Effect<void>
  readonly dismiss: (owner: AccountId, ids: ReadonlyArray<bigint>) => Effect.Effect<void>
}>()("murmuration/services/feeds/Notifications") {
  static readonly layer = Layer.effect(
    Notifications,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const retrying = retryDeadlocks(sql)
      const broadcast = yield* Broadcast
      const columns = sql.literal("n.id, n.type, n.created_at, n.from_account_id, n.status_id, n.report_id, n.filtered")
      const recordOf = (
        { createdAt, filtered, fromAccountId, id, reportId, statusId, type }: Row
      ): NotificationRecord => {
        const record = { id, type, createdAt, fromAccountId, filtered }
        switch (kindOf(type).subject) {
          case "nothing":
            return record
          case "status":
            return { ...record, statusId }
          case "severance":
            return { ...record, severanceId: statusId }
          case "warning":
            return { ...record, warningId: statusId }
          case "year":
            return { ...record, year: String(statusId) }
          case "report":
            return { ...record, reportId }
          case "collection":
            return { ...record, collectionId: reportId }
        }
      }

      const read = (rows: ReadonlyArray<Row>) => rows.map(recordOf)
      const time = Effect.map(Clock.currentTimeMillis, (millis) => new Date(millis))

      const page = traced("Notifications.page")(
        function*(owner: AccountId, selection: NotificationSelection, page: Page) {
          if (page.limit === 0) return []
          const { tail, where } = clauses(sql, "n.id", page)
          const rows = yield* notificationRows(sql`
            SELECT ${columns} FROM notifications n WHERE ${
            selectionCondition(sql, owner, selection, yield* time)
          } AND ${where} ${tail}`)
          return newestFirst(page, read(rows))
        },
        Effect.orDie
      )

      const load = traced("Notifications.load")(function*(owner: AccountId, ids: ReadonlyArray<bigint>) {
        if (ids.length === 0) return []
        const rows = yield* notificationRows(sql`
          SELECT ${columns} FROM notifications n WHERE n.id = ANY (${ids}::bigint[])
            AND ${
          selectionCondition(sql, owner, { ...everything, includeFiltered: true }, yield* time)
        } ORDER BY n.id DESC`)
        return read(rows)
      }, Effect.orDie)

      const find = traced("Notifications.find")(function*(owner: AccountId, id: bigint) {
        const [found] = yield* load(owner, [id])
        return found ?? (yield* new RecordNotFound())
      })

      const unread = traced("Notifications.unread")(
        function*(owner: AccountId, selection: NotificationSelection, limit: number) {
          const [row] = yield* countRows(sql`
            SELECT count(*)::int AS count FROM (SELECT n.id FROM notifications n
              WHERE ${selectionCondition(sql, owner, selection, yield* time)}
                AND n.id > coalesce((SELECT last_read_id FROM markers
                  WHERE account_id = ${owner} AND timeline = 'notifications'), 0)
              ORDER BY n.id DESC LIMIT ${rowsMax(sql, limit)}) counted`)
          return row?.count ?? 0
        },
        Effect.orDie
      )

      const unreadRows = traced("Notifications.unreadRows")(
        function*(owner: AccountId, selection: NotificationSelection, limit: number) {
          const [marker] = yield* lastReadIdRows(sql`
            SELECT last_read_id FROM markers WHERE account_id = ${owner} AND timeline = 'notifications'`)
          return yield* page(owner, selection, { sinceId: marker?.lastReadId, limit })
        },
        Effect.orDie
      )

      const announceDismissal = (owner: AccountId) =>
        sql.afterCommit(broadcast.publish({ _tag: "NotificationsDismissed", accountId: owner }))

      return Notifications.of({
        page,
        find,
        load,
        unread,
        unreadRows,
        clear: traced("Notifications.clear")((owner) =>
          Effect.andThen(
            Effect.orDie(retrying(sql`
            WITH requests AS (DELETE FROM notification_requests WHERE account_id = ${owner})
            DELETE FROM notifications WHERE account_id = ${owner}`)),
            announceDismissal(owner)
          )
        ),
        dismiss: traced("Notifications.dismiss")((owner, ids) =>
          Effect.andThen(
            Effect.orDie(retrying(
              sql`DELETE FROM notifications WHERE account_id = ${owner} AND id = ANY (${ids}::bigint[])`
            )),
            announceDismissal(owner)
          )
        )
      })
    })
  )
}

/** `statusId` holds the subject of a severance, a warning or a year, `reportId` that of a collection; 0 for none. */
const Row = Schema.Struct({
  id: Schema.BigInt,
  type: Schema.Literals(notificationTypes),
  createdAt: Timestamptz,
  fromAccountId: Schema.BigInt,
  statusId: Schema.BigInt,
  reportId: Schema.BigInt,
  filtered: Schema.Boolean
})
type Row = typeof Row.Type
const notificationRows = rowsOf(Row)

/** Types whose `statusId` is not of a status. */
const withoutStatus = typesWhere(({ subject }) => subject !== "status")

/**
 * Condition: a row `n` of `notifications` is shown to its owner. The type is in an expression to avoid an index on
 * types: with it, Postgres would read and sort all of an account's notifications for one page.
 */
export const selectionCondition = (
  sql: SqlClient.SqlClient,
  owner: AccountId,
  { accountId, excludeTypes, includeFiltered, types }: NotificationSelection,
  now: Date
): Fragment =>
  sql.and([
    sql`n.account_id = ${owner}`,
    sql`(n.type || '') = ANY (${
      notificationTypes.filter((type) => (types.length === 0 || types.includes(type)) && !excludeTypes.includes(type))
    }::text[])`,
    ...(includeFiltered ? [] : [sql.literal("NOT n.filtered")]),
    ...(accountId === undefined ? [] : [sql`n.from_account_id = ${accountId}`]),
    sql`NOT ${isSuspended(sql, sql`n.from_account_id`)}`,
    sql`NOT ${blocks(sql, sql`${owner}::bigint`, sql`n.from_account_id`)}`,
    sql`NOT ${mutesNotification(sql, sql`${owner}::bigint`, sql`n.from_account_id`, now, isReplyMention(sql, "n"))}`,
    sql`(${isOf(sql, "n", withoutStatus)} OR EXISTS (SELECT FROM statuses s
      WHERE s.id = n.status_id AND ${visibleTo(sql, owner, "s")} OFFSET 0))`
  ])
