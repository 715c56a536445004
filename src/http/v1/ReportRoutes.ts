import { Effect, Layer, Option, Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { AccountActors } from "../../actors/account/core/AccountActors.ts"
import { AccountIdFromString } from "../../services/database/Ids.ts"
import { Reports } from "../../services/moderation/Reports.ts"
import { RecordNotFound } from "../../services/runtime/Errors.ts"
import { traced } from "../../services/runtime/Traced.ts"
import { Access } from "../guard/Access.ts"
import { Caller } from "../guard/Caller.ts"
import { group } from "../guard/Group.ts"
import { Guard } from "../guard/Guard.ts"
import * as Reply from "../guard/Reply.ts"
import { AccountViews } from "../render/AccountViews.ts"
import { reportText } from "../render/ReportJson.ts"
import { NewReport, Report } from "../wire/Report.ts"
import { familyHeaders } from "./CommandHeaders.ts"

/** Reports to the moderators; each is a command of the reporter's actor. */
export class ReportsGroup extends HttpApiGroup.make("reports")
  .add(
    HttpApiEndpoint.post("create", "/api/v1/reports", { payload: NewReport, success: Report })
      .annotate(Access, Access.user("write", "write:reports"))
  )
  .middleware(Guard)
{}

export const layer = group(
  ReportsGroup,
  Effect.fn(function*(handlers) {
    const actors = yield* AccountActors
    const reports = yield* Reports
    const views = yield* AccountViews

    return handlers.handleAll({
      create: traced("reports.create")(function*({ payload }) {
        const viewer = yield* Caller.account
        const target = decodeAccountId(payload.accountId ?? "")
        if (Option.isNone(target)) return yield* new RecordNotFound()
        const response = yield* actors.tell(viewer, {
          _tag: "Report",
          target: target.value,
          category: payload.category || "other",
          comment: payload.comment ?? "",
          statusIds: payload.statusIds ?? [],
          ruleIds: payload.ruleIds ?? [],
          collectionIds: payload.collectionIds ?? [],
          forward: payload.forward ?? false,
          forwardDomains: payload.forwardToDomains ?? []
        })
        const report = yield* reports.find(viewer, BigInt(response.id))
        const shown = reportText(report, yield* views.renderOne(report.targetAccountId))
        return Reply.withHeaders(Reply.json(shown), familyHeaders(response))
      })
    })
  })
).pipe(Layer.provide(AccountViews.layer))

const decodeAccountId = Schema.decodeOption(AccountIdFromString)
