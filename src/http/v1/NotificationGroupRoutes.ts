import { Effect, identity, Layer, Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import * as Paging from "../../services/database/Paging.ts"
import { GroupedNotifications, groupRowsMax } from "../../services/feeds/GroupedNotifications.ts"
import { groupableTypes, groupsAmong } from "../../services/feeds/NotificationGroups.ts"
import { Notifications } from "../../services/feeds/Notifications.ts"
import { ServerConfig } from "../../services/instance/ServerConfig.ts"
import { Catalogs } from "../../services/languages/Catalogs.ts"
import { BadRequest, RecordNotFound } from "../../services/runtime/Errors.ts"
import { traced } from "../../services/runtime/Traced.ts"
import { Access } from "../guard/Access.ts"
import { Caller } from "../guard/Caller.ts"
import { group } from "../guard/Group.ts"
import { Guard } from "../guard/Guard.ts"
import * as Reply from "../guard/Reply.ts"
import { AccountViews } from "../render/AccountViews.ts"
import * as Lists from "../render/ListResponses.ts"
import { fallbackFor } from "../render/NotificationFallbacks.ts"
import * as NotificationGroupPages from "../render/NotificationGroupPages.ts"
import { NotificationGroupViews } from "../render/NotificationGroupViews.ts"
import { NotificationViews } from "../render/NotificationViews.ts"
import * as Links from "../render/PageLinks.ts"
import { accountRows, notificationRows } from "../render/PageSizes.ts"
import { StatusViews } from "../render/StatusViews.ts"
import { Account } from "../wire/Account.ts"
import { json } from "../wire/Keys.ts"
import { GroupedNotificationsResults, UnreadCount } from "../wire/Notification.ts"
import { pageOf, PageQuery } from "../wire/PageQuery.ts"
import { groupFilters, GroupKeyPath, GroupsQuery, UnreadQuery } from "../wire/ReadRequests.ts"
import { selectionOf, unreadDefault, unreadMax } from "./NotificationRoutes.ts"

const path = "/api/v2/notifications"
const reading = Access.user("read", "read:notifications")
const writing = Access.user("write", "write:notifications")
const nothing = Schema.Struct({})

export class NotificationGroupsGroup extends HttpApiGroup.make("notificationGroups")
  .add(
    HttpApiEndpoint.get("list", path, { query: GroupsQuery, success: GroupedNotificationsResults })
      .annotate(Access, reading),
    HttpApiEndpoint.get("unreadCount", `${path}/unread_count`, { query: UnreadQuery, success: UnreadCount })
      .annotate(Access, reading),
    HttpApiEndpoint.get("show", `${path}/:groupKey`, { params: GroupKeyPath, success: GroupedNotificationsResults })
      .annotate(Access, reading),
    HttpApiEndpoint.get("accounts", `${path}/:groupKey/accounts`, {
      params: GroupKeyPath,
      query: PageQuery,
      success: Schema.Array(Account)
    }).annotate(Access, reading),
    HttpApiEndpoint.post("clear", `${path}/clear`, { success: nothing }).annotate(Access, writing),
    HttpApiEndpoint.post("dismiss", `${path}/:groupKey/dismiss`, { params: GroupKeyPath, success: nothing })
      .annotate(Access, writing)
  )
  .middleware(Guard)
{}

const groupedOf = (types: ReadonlyArray<string> | undefined): ReadonlySet<string> =>
  types === undefined || types.length === 0 ? groupableTypes : new Set(types)

/** Grouped notifications, the second version of the notification API (operations.md section 10). */
export const layer = group(
  NotificationGroupsGroup,
  Effect.fn(function*(handlers) {
    const notifications = yield* Notifications
    const groups = yield* GroupedNotifications
    const views = yield* NotificationGroupViews
    const single = yield* NotificationViews
    const groupPage = yield* NotificationGroupPages.make
    const accounts = yield* AccountViews
    const { publicUrl } = yield* ServerConfig
    const catalogs = yield* Catalogs

    return handlers.handleAll({
      list: traced("notificationGroups.list")(function*({ query, request }) {
        const viewer = yield* Caller.account
        const partial = yield* isPartial(query.expandAccounts)
        const page = pageOf(query, notificationRows)
        const selection = selectionOf(query)
        const fallback = fallbackFor(catalogs, query.supportedTypes, request, (yield* Caller).locale)
        const { items, read: rows } = yield* groupPage(viewer, selection, groupedOf(query.groupedTypes), page)
        const [first, last] = [rows[0], lowest(rows)]
        const ends = first === undefined || last === undefined
          ? undefined
          : { first: first.newest.id, last, more: true }
        const link = Links.link(publicUrl, path, ends, page.limit, Lists.linkParameters(request.url, groupFilters))
        return Reply.json(
          yield* views.render(viewer, items, partial, fallback),
          link === undefined ? {} : { headers: { link } }
        )
      }),
      unreadCount: traced("notificationGroups.unreadCount")(function*({ query }) {
        const viewer = yield* Caller.account
        const selection = selectionOf(query)
        const limit = Math.min(Math.abs(query.limit ?? unreadDefault), unreadMax)
        const count = selection === undefined
          ? 0
          : Math.min(
            limit,
            groupsAmong(
              yield* single.unhidden(
                viewer,
                yield* notifications.unreadRows(viewer, selection, groupRowsMax),
                identity
              ),
              groupedOf(query.groupedTypes)
            )
          )
        return Reply.json(json<UnreadCount>({ count }))
      }),
      show: traced("notificationGroups.show")(function*({ params }) {
        const viewer = yield* Caller.account
        const members = yield* groups.members(viewer, params.groupKey)
        const [newest, oldest] = [members[0], members.at(-1)]
        if (newest === undefined || oldest === undefined) return yield* new RecordNotFound()
        const people = [...new Set(members.map(({ fromAccountId }) => fromAccountId))]
        const group = {
          key: params.groupKey,
          newest,
          oldest,
          count: members.length,
          sampleAccountIds: people.slice(0, 8)
        }
        return Reply.json(yield* views.render(viewer, [group], false))
      }),
      accounts: traced("notificationGroups.accounts")(function*({ params, query }) {
        const members = yield* groups.members(yield* Caller.account, params.groupKey)
        const page = pageOf(query, accountRows)
        const ids = new Set(Paging.slice(page, members.map(({ id }) => id)))
        const rows = members.filter(({ id }) => ids.has(id))
        return Lists.page({
          baseUrl: publicUrl,
          path: `${path}/${params.groupKey}/accounts`,
          page,
          rows,
          cursor: ({ id }) => id,
          items: yield* accounts.render(rows.map(({ fromAccountId }) => fromAccountId))
        })
      }),
      clear: traced("notificationGroups.clear")(function*() {
        yield* notifications.clear(yield* Caller.account)
        return Reply.empty
      }),
      dismiss: traced("notificationGroups.dismiss")(function*({ params }) {
        const viewer = yield* Caller.account
        const members = yield* groups.members(viewer, params.groupKey)
        yield* notifications.dismiss(viewer, members.map(({ id }) => id))
        return Reply.empty
      })
    })
  })
).pipe(Layer.provide([AccountViews.layer, NotificationGroupViews.layer, NotificationViews.layer, StatusViews.layer]))

const isPartial = Effect.fnUntraced(function*(expand: string | undefined) {
  if (expand === undefined || expand === "full") return false
  if (expand === "partial_avatars") return true
  return yield* new BadRequest({
    text: `Invalid value for 'expand_accounts': '${expand}', allowed values are 'full' and 'partial_avatars'`
  })
})

const lowest = (rows: ReadonlyArray<{ readonly oldest: { readonly id: bigint } }>): bigint | undefined =>
  rows.reduce<bigint | undefined>(
    (low, { oldest }) => low === undefined || oldest.id < low ? oldest.id : low,
    undefined
  )
