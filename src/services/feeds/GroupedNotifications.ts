import { Clock, Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { RecordNotFound } from "../Errors.ts"
import type { AccountId } from "../Ids.ts"
import { type Page, rowsMax } from "../Paging.ts"
import { groupKeyOf, parseGroupKey } from "./NotificationGroups.ts"
import { type NotificationRecord, Notifications, type NotificationSelection, wanted } from "./Notifications.ts"

/** Accounts that are named of a group, the newest. */
export const sampleAccountsMax = 8
/** Notifications that one page of groups goes through. */
export const groupedRowsMax = 400
/** Accounts and notifications of one group that are read. */
export const groupRowsMax = 1_000

/** Notifications that belong together. `newest` and `oldest` are those on the page; `count` counts all of the group. */
export interface NotificationGroupRecord {
  readonly key: string
  readonly newest: NotificationRecord
  readonly oldest: NotificationRecord
  readonly count: number
  readonly sampleAccountIds: ReadonlyArray<bigint>
}

/** Notifications in groups: favourites, reblogs and follows of half a day are one entry. */
export class GroupedNotifications extends Context.Service<GroupedNotifications, {
  /** A page of at most `page.limit` groups. A group that goes on below the page comes again on the next one. */
  readonly page: (
    owner: AccountId,
    selection: NotificationSelection,
    grouped: ReadonlySet<string>,
    page: Page
  ) => Effect.Effect<ReadonlyArray<NotificationGroupRecord>>
  /** The notifications of one group, newest first. */
  readonly members: (owner: AccountId, key: string) => Effect.Effect<ReadonlyArray<NotificationRecord>, RecordNotFound>
  /** How many groups stand above the owner's marker, counted up to `limit`. */
  readonly unread: (
    owner: AccountId,
    selection: NotificationSelection,
    grouped: ReadonlySet<string>,
    limit: number
  ) => Effect.Effect<number>
}>()("murmuration/services/feeds/GroupedNotifications") {
  static readonly layer = Layer.effect(
    GroupedNotifications,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const notifications = yield* Notifications

      const members = Effect.fn("GroupedNotifications.members")(function*(owner: AccountId, key: string) {
        const parsed = parseGroupKey(key)
        if (parsed === undefined) return yield* new RecordNotFound()
        if ("id" in parsed) return yield* notifications.load(owner, [parsed.id])
        const now = new Date(yield* Clock.currentTimeMillis)
        const all = { types: [parsed.type], excludeTypes: [], accountId: undefined }
        const rows = yield* sql<{ id: bigint }>`
          SELECT n.id FROM notifications n WHERE ${wanted(sql, owner, all, now)} AND n.status_id = ${
          parsed.statusId ?? 0n
        }
            AND n.created_at >= ${new Date(parsed.from)} AND n.created_at < ${new Date(parsed.to)}
          ORDER BY n.id DESC LIMIT ${rowsMax(sql, groupRowsMax)}`.pipe(Effect.orDie)
        return yield* notifications.load(owner, rows.map(({ id }) => id))
      })

      const page = Effect.fn("GroupedNotifications.page")(
        function*(owner: AccountId, selection: NotificationSelection, grouped: ReadonlySet<string>, page: Page) {
          if (page.limit === 0) return []
          const rows = yield* notifications.page(owner, selection, { ...page, limit: groupedRowsMax })
          const groups = grouping(page.minId === undefined ? rows : rows.toReversed(), grouped, page.limit)
          const shown = page.minId === undefined ? groups : groups.toReversed()
          return yield* Effect.forEach(
            shown,
            Effect.fnUntraced(function*([key, onPage]) {
              const [first] = onPage
              const newest = onPage.reduce((a, b) => a.id > b.id ? a : b, first)
              const oldest = onPage.reduce((a, b) => a.id < b.id ? a : b, first)
              const whole = key.startsWith("ungrouped-")
                ? onPage
                : yield* members(owner, key).pipe(Effect.catch(() => Effect.succeed(onPage)))
              const people = [...new Set(whole.map(({ fromAccountId }) => fromAccountId))]
              return { key, newest, oldest, count: whole.length, sampleAccountIds: people.slice(0, sampleAccountsMax) }
            })
          )
        }
      )

      const unread = Effect.fn("GroupedNotifications.unread")(
        function*(owner: AccountId, selection: NotificationSelection, grouped: ReadonlySet<string>, limit: number) {
          const [marker] = yield* sql<{ lastReadId: bigint }>`
            SELECT last_read_id FROM markers WHERE account_id = ${owner} AND timeline = 'notifications'`.pipe(
            Effect.orDie
          )
          const rows = yield* notifications.page(owner, selection, { sinceId: marker?.lastReadId, limit: groupRowsMax })
          return Math.min(limit, new Set(rows.map((row) => groupKeyOf(row, grouped))).size)
        }
      )
      return GroupedNotifications.of({ page, members, unread })
    })
  )
}

type Members = readonly [NotificationRecord, ...Array<NotificationRecord>]

/** Rows in their order, put into groups until one more group would begin. */
const grouping = (
  rows: ReadonlyArray<NotificationRecord>,
  grouped: ReadonlySet<string>,
  limit: number
): ReadonlyArray<readonly [key: string, members: Members]> => {
  const groups = new Map<string, [NotificationRecord, ...Array<NotificationRecord>]>()
  for (const row of rows) {
    const key = groupKeyOf(row, grouped)
    const members = groups.get(key)
    if (members !== undefined) members.push(row)
    else if (groups.size < limit) groups.set(key, [row])
    else break
  }
  return [...groups]
}
