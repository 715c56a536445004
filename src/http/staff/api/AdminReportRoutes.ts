import { Effect, Layer, Schema } from "effect"
import { HttpServerRequest } from "effect/http"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { AccountActors } from "../../../actors/account/core/AccountActors.ts"
import type { AccountId } from "../../../services/database/Ids.ts"
import { ServerConfig } from "../../../services/instance/ServerConfig.ts"
import { AdminReports } from "../../../services/moderation/AdminReports.ts"
import { ReportDesk } from "../../../services/moderation/ReportDesk.ts"
import { type ClientError, RecordNotFound } from "../../../services/runtime/Errors.ts"
import { traced } from "../../../services/runtime/Traced.ts"
import { Access } from "../../guard/Access.ts"
import { Caller } from "../../guard/Caller.ts"
import { group } from "../../guard/Group.ts"
import { Guard } from "../../guard/Guard.ts"
import * as Reply from "../../guard/Reply.ts"
import * as Lists from "../../render/ListResponses.ts"
import { adminRows } from "../../render/PageSizes.ts"
import { pageOf } from "../../wire/PageQuery.ts"
import { IdPath } from "../../wire/ReadRequests.ts"
import { AdminReportViews } from "../render/AdminReportViews.ts"
import { AdminReport, AdminReportsQuery, AdminReportWrite, ReportForwarding } from "../wire/AdminReport.ts"

const reading = Access.staff("manageReports", "admin:read", "admin:read:reports")
const writing = Access.staff("manageReports", "admin:write", "admin:write:reports")
const path = "/api/v1/admin/reports"
const one = { params: IdPath, success: AdminReport }
const changing = { ...one, payload: AdminReportWrite }

export class AdminReportsGroup extends HttpApiGroup.make("admin/reports")
  .add(
    HttpApiEndpoint.get("all", path, { query: AdminReportsQuery, success: Schema.Array(AdminReport) })
      .annotate(Access, reading),
    HttpApiEndpoint.get("show", `${path}/:id`, one).annotate(Access, reading),
    HttpApiEndpoint.put("replace", `${path}/:id`, changing).annotate(Access, writing),
    HttpApiEndpoint.patch("change", `${path}/:id`, changing).annotate(Access, writing),
    HttpApiEndpoint.post("assign", `${path}/:id/assign_to_self`, one).annotate(Access, writing),
    HttpApiEndpoint.post("unassign", `${path}/:id/unassign`, one).annotate(Access, writing),
    HttpApiEndpoint.post("resolve", `${path}/:id/resolve`, one).annotate(Access, writing),
    HttpApiEndpoint.post("reopen", `${path}/:id/reopen`, one).annotate(Access, writing),
    HttpApiEndpoint.post("forward", `${path}/:id/forward`, { ...one, payload: ReportForwarding })
      .annotate(Access, writing)
  )
  .middleware(Guard)
{}

interface OnReport {
  readonly params: { readonly id: bigint }
}

interface Changing extends OnReport {
  readonly payload: typeof AdminReportWrite.Type
}

const filters = ["resolved", "unresolved", "account_id", "target_account_id", "by_target_domain"]

/** Reports for moderators (S-021, S-234). */
export const layer = group(
  AdminReportsGroup,
  Effect.fn(function*(handlers) {
    const actors = yield* AccountActors
    const desk = yield* ReportDesk
    const reports = yield* AdminReports
    const views = yield* AdminReportViews
    const { publicUrl } = yield* ServerConfig

    const shown = Effect.fnUntraced(function*(id: bigint) {
      const [text] = yield* views.render(yield* Caller.account, [yield* reports.find(id)])
      return text === undefined ? yield* new RecordNotFound() : Reply.json(text)
    })
    const work = (name: string, by: (by: AccountId, id: bigint) => Effect.Effect<void, ClientError>) =>
      traced(`admin.reports.${name}`)(function*({ params: { id } }: OnReport) {
        yield* by(yield* Caller.account, id)
        return yield* shown(id)
      })
    const change = traced("admin.reports.change")(function*({ params: { id }, payload }: Changing) {
      const { category, ruleIds } = payload
      yield* desk.update(yield* Caller.account, id, {
        category: category || undefined,
        ruleIds: ruleIds && Lists.idsOf(ruleIds)
      })
      return yield* shown(id)
    })

    return handlers.handleAll({
      all: traced("admin.reports.all")(function*({ query }) {
        const page = pageOf(query, adminRows)
        const { accountId, byTargetDomain, resolved, targetAccountId, unresolved } = query
        const found = yield* reports.page({
          state: resolved !== true ? "open" : unresolved === true ? "all" : "resolved",
          accountId,
          targetAccountId,
          targetDomain: byTargetDomain || undefined
        }, page)
        const { url } = yield* HttpServerRequest.HttpServerRequest
        return Lists.page({
          baseUrl: publicUrl,
          path,
          page,
          rows: found,
          cursor: ({ id }) => id,
          items: yield* views.render(yield* Caller.account, found),
          keep: Lists.linkParameters(url, filters)
        })
      }),
      show: traced("admin.reports.show")(({ params }) => shown(params.id)),
      replace: change,
      change,
      assign: work("assign", desk.assign),
      unassign: work("unassign", desk.unassign),
      resolve: work("resolve", desk.resolve),
      reopen: work("reopen", desk.reopen),
      forward: traced("admin.reports.forward")(function*({ params: { id }, payload: { domains = [] } }) {
        yield* actors.tell(yield* Caller.account, { _tag: "ForwardReport", reportId: id, domains })
        return yield* shown(id)
      })
    })
  })
).pipe(Layer.provide([AdminReports.layer, AdminReportViews.layer, ReportDesk.layer]))
