import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { AccountId } from "../database/Ids.ts"
import { type Page, rowsMax } from "../database/Paging.ts"
import { idRows, rowsOf, Timestamptz } from "../database/Rows.ts"
import { notificationTypes } from "../notifications/NotificationTypes.ts"
import { RecordNotFound } from "../runtime/Errors.ts"
import { traced } from "../runtime/Traced.ts"
import { groupKeyOf, type GroupSpan, keyOfSpan, parseGroupKey, spanMillis } from "./NotificationGroups.ts"
import {
  everything,
  type NotificationRecord,
  Notifications,
  type NotificationSelection,
  selectionCondition
} from "./Notifications.ts"

/** Maximum accounts listed for a group, newest first. */
const sampleAccountsMax = 8
/** Maximum notifications that one page of groups reads. */
export const pageRowsMax = 400
/** Maximum notifications returned of one group, newest first, and maximum counted unread ones. */
export const groupRowsMax = 1_000

/** A group of notifications. `newest` and `oldest` are on the page; `count` is of the whole group. */
export interface NotificationGroupRecord {
  readonly key: string
  readonly newest: NotificationRecord
  readonly oldest: NotificationRecord
  readonly count: number
  readonly sampleAccountIds: ReadonlyArray<bigint>
}

/** Grouped notifications: favourites, boosts and follows of half a day are one entry. */
export class GroupedNotifications extends Context.Service<GroupedNotifications, {
  /**
   * Returns a page of at most `page.limit` groups, by two queries. A group that continues below the page is repeated on
   * the next one.
   */
  readonly page: (
    owner: AccountId,
    selection: NotificationSelection,
    grouped: ReadonlySet<string>,
    page: Page
  ) => Effect.Effect<ReadonlyArray<NotificationGroupRecord>>
  /** Returns the notifications of one group, newest first. */
  readonly members: (owner: AccountId, key: string) => Effect.Effect<ReadonlyArray<NotificationRecord>, RecordNotFound>
}>()("murmuration/services/feeds/GroupedNotifications") {
  static readonly layerNoDeps = Layer.effect(
    GroupedNotifications,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const notifications = yield* Notifications
      const time = Effect.map(Clock.currentTimeMillis, (millis) => new Date(millis))

      /** Returns the count and the newest senders of each span's notifications. */
      const totals = Effect.fnUntraced(function*(
        owner: AccountId,
        spans: ReadonlyArray<GroupSpan>,
        { includeFiltered }: NotificationSelection
      ) {
        if (spans.length === 0) return new Map<string, Whole>()
        const rows = yield* totalRows(sql`
          SELECT g.type, g.status_id, g.start, count(*)::int AS count,
            (array_agg(n.from_account_id ORDER BY n.id DESC))[1:${
          sql.literal(String(sampleAccountsMax))
        }] AS sample_account_ids
          FROM unnest(${spans.map(({ type }) => type)}::text[], ${spans.map(({ statusId }) => statusId)}::bigint[],
            ${spans.map(({ from }) => new Date(from))}::timestamptz[]) g (type, status_id, start)
          JOIN notifications n ON n.type = g.type AND n.status_id = g.status_id AND n.created_at >= g.start
            AND n.created_at < g.start + ${`${spanMillis} milliseconds`}::interval
          WHERE ${
          selectionCondition(sql, owner, { ...everything, includeFiltered }, yield* time)
        } GROUP BY g.type, g.status_id, g.start`)
        return new Map(
          rows.map((row): [string, Whole] => [keyOfSpan({ ...row, from: row.start.getTime() }), row])
        )
      }, Effect.orDie)

      const page = traced("GroupedNotifications.page")(
        function*(owner: AccountId, selection: NotificationSelection, grouped: ReadonlySet<string>, page: Page) {
          if (page.limit === 0) return []
          const rows = yield* notifications.page(owner, selection, { ...page, limit: pageRowsMax })
          const found = grouping(page.minId === undefined ? rows : rows.toReversed(), grouped, page.limit)
          const spans = [...found.keys()].map(parseGroupKey).filter((key) => typeof key === "object")
          const spanTotals = yield* totals(owner, spans, selection)
          const groups = Array.from(found, ([key, members]) => {
            const sorted = members.toSorted((a, b) => a.id < b.id ? 1 : -1)
            const [newest, oldest] = [sorted[0] ?? members[0], sorted.at(-1) ?? members[0]]
            const { count, sampleAccountIds } = spanTotals.get(key) ??
              { count: members.length, sampleAccountIds: sorted.map(({ fromAccountId }) => fromAccountId) }
            return { key, newest, oldest, count, sampleAccountIds: sampleAccountIds.slice(0, sampleAccountsMax) }
          })
          return page.minId === undefined ? groups : groups.toReversed()
        }
      )

      const members = traced("GroupedNotifications.members")(function*(owner: AccountId, key: string) {
        const named = parseGroupKey(key)
        if (named === undefined) return yield* new RecordNotFound()
        if (typeof named === "bigint") return yield* notifications.load(owner, [named])
        const rows = yield* idRows(sql`
          SELECT n.id FROM notifications n
          WHERE ${
          selectionCondition(sql, owner, { ...everything, types: [named.type] }, yield* time)
        } AND n.status_id = ${named.statusId}
            AND n.created_at >= ${new Date(named.from)} AND n.created_at < ${new Date(named.from + spanMillis)}
          ORDER BY n.id DESC LIMIT ${rowsMax(sql, groupRowsMax)}`).pipe(Effect.orDie)
        return yield* notifications.load(owner, rows.map(({ id }) => id))
      })
      return GroupedNotifications.of({ page, members })
    })
  )
  static readonly layer = GroupedNotifications.layerNoDeps.pipe(Layer.provide(Notifications.layer))
}

interface Whole {
  readonly count: number
  readonly sampleAccountIds: ReadonlyArray<bigint>
}
const totalRows = rowsOf(Schema.Struct({
  type: Schema.Literals(notificationTypes),
  statusId: Schema.BigInt,
  start: Timestamptz,
  count: Schema.Int,
  sampleAccountIds: Schema.Array(Schema.BigInt)
}))

type Members = [NotificationRecord, ...Array<NotificationRecord>]

/** Groups rows in order, until a group would exceed the limit. */
const grouping = (
  rows: ReadonlyArray<NotificationRecord>,
  grouped: ReadonlySet<string>,
  limit: number
): ReadonlyMap<string, Members> => {
  const groups = new Map<string, Members>()
  for (const row of rows) {
    const key = groupKeyOf(row, grouped)
    const members = groups.get(key)
    if (members !== undefined) members.push(row)
    else if (groups.size < limit) groups.set(key, [row])
    else break
  }
  return groups
}
