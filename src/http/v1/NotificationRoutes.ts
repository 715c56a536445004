import { Effect, identity, Layer, Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import {
  type NotificationRecord,
  Notifications,
  type NotificationSelection
} from "../../services/feeds/Notifications.ts"
import { ServerConfig } from "../../services/instance/ServerConfig.ts"
import { Catalogs } from "../../services/languages/Catalogs.ts"
import { onDemandTypes } from "../../services/notifications/NotificationTypes.ts"
import { traced } from "../../services/runtime/Traced.ts"
import { Access } from "../guard/Access.ts"
import { Caller } from "../guard/Caller.ts"
import { group } from "../guard/Group.ts"
import { Guard } from "../guard/Guard.ts"
import * as Reply from "../guard/Reply.ts"
import { allShown, filled, singleEnds } from "../render/FilledPages.ts"
import * as Lists from "../render/ListResponses.ts"
import { fallbackFor } from "../render/NotificationFallbacks.ts"
import { NotificationViews } from "../render/NotificationViews.ts"
import { notificationRows } from "../render/PageSizes.ts"
import { StatusViews } from "../render/StatusViews.ts"
import { json } from "../wire/Keys.ts"
import { Notification, UnreadCount } from "../wire/Notification.ts"
import { pageOf } from "../wire/PageQuery.ts"
import {
  IdPath,
  notificationFilters,
  NotificationQuery,
  NotificationsQuery,
  UnreadQuery
} from "../wire/ReadRequests.ts"

/** Default and maximum count of unread notifications. */
export const unreadDefault = 100
export const unreadMax = 1_000

const path = "/api/v1/notifications"
const reading = Access.user("read", "read:notifications")
const writing = Access.user("write", "write:notifications")
const nothing = Schema.Struct({})

export class NotificationsGroup extends HttpApiGroup.make("notifications")
  .add(
    HttpApiEndpoint.get("list", path, { query: NotificationsQuery, success: Schema.Array(Notification) })
      .annotate(Access, reading),
    HttpApiEndpoint.get("unreadCount", `${path}/unread_count`, { query: UnreadQuery, success: UnreadCount })
      .annotate(Access, reading),
    HttpApiEndpoint.get("show", `${path}/:id`, { params: IdPath, query: NotificationQuery, success: Notification })
      .annotate(Access, reading),
    HttpApiEndpoint.post("clear", `${path}/clear`, { success: nothing }).annotate(Access, writing),
    HttpApiEndpoint.post("dismiss", `${path}/:id/dismiss`, { params: IdPath, success: nothing }).annotate(
      Access,
      writing
    )
  )
  .middleware(Guard)
{}

/** Single notifications (S-149, S-175). */
export const layer = group(
  NotificationsGroup,
  Effect.fn(function*(handlers) {
    const notifications = yield* Notifications
    const views = yield* NotificationViews
    const statuses = yield* StatusViews
    const { publicUrl } = yield* ServerConfig
    const catalogs = yield* Catalogs

    return handlers.handleAll({
      list: traced("notifications.list")(function*({ query, request }) {
        const viewer = yield* Caller.account
        const page = pageOf(query, notificationRows)
        const selection = selectionOf(query)
        const fallback = fallbackFor(catalogs, query.supportedTypes, request, (yield* Caller).locale)
        const { items, read: rows } = yield* filled({
          page,
          hides: statuses.hides(viewer),
          unhidden: (records) => views.unhidden(viewer, records, identity),
          ends: ({ id }: NotificationRecord) => singleEnds(id),
          read: (page) =>
            selection === undefined
              ? Effect.succeed(allShown([]))
              : Effect.map(notifications.page(viewer, selection, page), allShown),
          show: (records) => views.render(viewer, records, "notifications", fallback)
        })
        return Lists.page({
          baseUrl: publicUrl,
          path,
          page,
          rows,
          cursor: ({ id }) => id,
          items,
          keep: Lists.linkParameters(request.url, notificationFilters),
          always: true
        })
      }),
      unreadCount: traced("notifications.unreadCount")(function*({ query }) {
        const viewer = yield* Caller.account
        const selection = selectionOf(query)
        const limit = Math.min(Math.abs(query.limit ?? unreadDefault), unreadMax)
        const count = selection === undefined
          ? 0
          : (yield* statuses.hides(viewer))
          ? (yield* views.unhidden(viewer, yield* notifications.unreadRows(viewer, selection, limit), identity)).length
          : yield* notifications.unread(viewer, selection, limit)
        return Reply.json(json<UnreadCount>({ count }))
      }),
      show: traced("notifications.show")(function*({ params, query, request }) {
        const fallback = fallbackFor(catalogs, query.supportedTypes, request, (yield* Caller).locale)
        return Reply.json(yield* views.renderOne(yield* Caller.account, params.id, undefined, fallback))
      }),
      clear: traced("notifications.clear")(function*() {
        yield* notifications.clear(yield* Caller.account)
        return Reply.empty
      }),
      dismiss: traced("notifications.dismiss")(function*({ params }) {
        yield* notifications.dismiss(yield* Caller.account, [params.id])
        return Reply.empty
      })
    })
  })
).pipe(Layer.provide([NotificationViews.layer, StatusViews.layer]))

/** Returns the selection that a query asks for; undefined if its account does not exist, so nothing matches (S-149). */
export const selectionOf = (
  query: {
    readonly types?: ReadonlyArray<string>
    readonly includeTypes?: ReadonlyArray<string>
    readonly excludeTypes?: ReadonlyArray<string>
    readonly accountId?: string
    readonly includeFiltered?: boolean | undefined
    readonly supportedTypes?: ReadonlyArray<string>
  }
): NotificationSelection | undefined => {
  const types = [...query.types ?? [], ...query.includeTypes ?? []]
  // Clients that name their types get a fallback text for other types; the rest get no types beyond Mastodon's.
  const asks = types.length > 0 || (query.supportedTypes ?? []).length > 0
  const [accountId] = Lists.idsOf(query.accountId === undefined ? [] : [query.accountId])
  return query.accountId !== undefined && query.accountId !== "" && accountId === undefined
    ? undefined
    : {
      types,
      excludeTypes: [...query.excludeTypes ?? [], ...asks ? [] : onDemandTypes],
      accountId,
      includeFiltered: query.includeFiltered === true || accountId !== undefined
    }
}
