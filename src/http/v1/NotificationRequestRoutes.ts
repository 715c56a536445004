import { Effect, Layer, Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import type { AccountId } from "../../services/database/Ids.ts"
import { renderedRows } from "../../services/database/RenderedRows.ts"
import {
  type NotificationRequest as StoredRequest,
  NotificationRequests
} from "../../services/feeds/NotificationRequests.ts"
import { ServerConfig } from "../../services/instance/ServerConfig.ts"
import { RecordNotFound } from "../../services/runtime/Errors.ts"
import { traced } from "../../services/runtime/Traced.ts"
import { Access } from "../guard/Access.ts"
import { Caller } from "../guard/Caller.ts"
import { group } from "../guard/Group.ts"
import { Guard } from "../guard/Guard.ts"
import * as Reply from "../guard/Reply.ts"
import { AccountViews } from "../render/AccountViews.ts"
import * as Lists from "../render/ListResponses.ts"
import { notificationRows } from "../render/PageSizes.ts"
import { StatusViews } from "../render/StatusViews.ts"
import { id, timestamp } from "../wire/Common.ts"
import { json, none, withMembers } from "../wire/Keys.ts"
import { Merged, NotificationRequest, RequestIds } from "../wire/NotificationPolicy.ts"
import { pageOf, PageQuery } from "../wire/PageQuery.ts"
import { IdPath } from "../wire/ReadRequests.ts"

const path = "/api/v1/notifications/requests"
const reading = Access.user("read", "read:notifications")
const writing = Access.user("write", "write:notifications")
const one = { params: IdPath, success: Schema.Struct({}) }
const many = { payload: RequestIds, success: Schema.Struct({}) }

export class NotificationRequestsGroup extends HttpApiGroup.make("notificationRequests")
  .add(
    HttpApiEndpoint.get("list", path, { query: PageQuery, success: Schema.Array(NotificationRequest) })
      .annotate(Access, reading),
    HttpApiEndpoint.get("merged", `${path}/merged`, { success: Merged }).annotate(Access, reading),
    HttpApiEndpoint.get("show", `${path}/:id`, { params: IdPath, success: NotificationRequest })
      .annotate(Access, reading),
    HttpApiEndpoint.post("accept", `${path}/:id/accept`, one).annotate(Access, writing),
    HttpApiEndpoint.post("dismiss", `${path}/:id/dismiss`, one).annotate(Access, writing),
    HttpApiEndpoint.post("acceptAll", `${path}/accept`, many).annotate(Access, writing),
    HttpApiEndpoint.post("dismissAll", `${path}/dismiss`, many).annotate(Access, writing)
  )
  .middleware(Guard)
{}

/** Senders with filtered notifications, to be accepted or dismissed (operations.md section 10). */
export const layer = group(
  NotificationRequestsGroup,
  Effect.fn(function*(handlers) {
    const requests = yield* NotificationRequests
    const accounts = yield* AccountViews
    const statuses = yield* StatusViews
    const { publicUrl } = yield* ServerConfig

    const render = Effect.fnUntraced(function*(owner: AccountId, rows: ReadonlyArray<StoredRequest>) {
      const people = yield* accounts.byId(new Set(rows.map(({ fromAccountId }) => fromAccountId)))
      const shown = yield* statuses.byId(owner, rows.map(({ lastStatusId }) => lastStatusId))
      return yield* renderedRows("notification request", rows, (row) => row.id, (row) => {
        const account = people.get(row.fromAccountId)
        return account && withMembers<NotificationRequest, "account" | "lastStatus">({
          id: id(row.id),
          createdAt: timestamp(row.createdAt),
          updatedAt: timestamp(row.updatedAt),
          notificationsCount: String(row.count)
        }, { account, lastStatus: shown.get(row.lastStatusId) ?? none })
      })
    })

    const forOne = (name: "accept" | "dismiss") =>
      traced(`notificationRequests.${name}`)(function*({ params }: { readonly params: { readonly id: bigint } }) {
        const owner = yield* Caller.account
        const found = yield* requests.find(owner, params.id)
        yield* requests[name](owner, [found.id])
        return Reply.empty
      })
    const forMany = (name: "accept" | "dismiss") =>
      traced(`notificationRequests.${name}All`)(function*({ payload }: { readonly payload: typeof RequestIds.Type }) {
        yield* requests[name](yield* Caller.account, Lists.idsOf(payload.id))
        return Reply.empty
      })

    return handlers.handleAll({
      list: traced("notificationRequests.list")(function*({ query }) {
        const owner = yield* Caller.account
        const page = pageOf(query, notificationRows)
        const rows = yield* requests.page(owner, page)
        return Lists.page({
          baseUrl: publicUrl,
          path,
          page,
          rows,
          cursor: (row) => row.id,
          items: yield* render(owner, rows)
        })
      }),
      show: traced("notificationRequests.show")(function*({ params }) {
        const owner = yield* Caller.account
        const [shown] = yield* render(owner, [yield* requests.find(owner, params.id)])
        return shown === undefined ? yield* new RecordNotFound() : Reply.json(shown)
      }),
      // Always true: accepting a request moves its notifications at once.
      merged: () => Effect.succeed(Reply.json(json<Merged>({ merged: true }))),
      accept: forOne("accept"),
      dismiss: forOne("dismiss"),
      acceptAll: forMany("accept"),
      dismissAll: forMany("dismiss")
    })
  })
).pipe(Layer.provide([AccountViews.layer, StatusViews.layer]))
