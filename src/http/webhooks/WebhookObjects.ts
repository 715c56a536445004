import { Effect, Layer } from "effect"
import { AccountId } from "../../services/database/Ids.ts"
import { AdminReports } from "../../services/moderation/AdminReports.ts"
import { WebhookBodies } from "../../services/webhooks/WebhookBodies.ts"
import { StatusViews } from "../render/StatusViews.ts"
import { AdminAccountViews } from "../staff/render/AdminAccountViews.ts"
import { AdminReportViews } from "../staff/render/AdminReportViews.ts"

/** Viewer without an account, so that no viewer-specific marks are set. */
const nobody = AccountId.make(0n)

/** Objects of webhooks, as the API shows them to staff; posts without viewer-specific fields. */
export const layer = Layer.effect(
  WebhookBodies,
  Effect.gen(function*() {
    const accounts = yield* AdminAccountViews
    const adminReports = yield* AdminReports
    const reports = yield* AdminReportViews
    const statuses = yield* StatusViews

    const report = (id: bigint) =>
      adminReports.find(id).pipe(
        Effect.flatMap((found) => reports.render(nobody, [found])),
        Effect.map(([shown]) => shown),
        Effect.catchTag("RecordNotFound", () => Effect.succeed(undefined))
      )

    return WebhookBodies.of({
      object: (event, id) => {
        switch (event) {
          case "account.approved":
          case "account.created":
          case "account.updated":
            return Effect.map(accounts.byId([id]), (found) => found.get(id))
          case "report.created":
          case "report.updated":
            return report(id)
          case "status.created":
          case "status.updated":
            return Effect.map(statuses.byId(undefined, [id]), (found) => found.get(id))
        }
      }
    })
  })
).pipe(Layer.provide([AdminAccountViews.layer, AdminReports.layer, AdminReportViews.layer, StatusViews.layer]))
