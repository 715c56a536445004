import { Effect, Layer, Schema } from "effect"
import { HttpServerRequest } from "effect/http"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { ServerConfig } from "../../../services/instance/ServerConfig.ts"
import { AdminAccounts } from "../../../services/moderation/AdminAccounts.ts"
import { traced } from "../../../services/runtime/Traced.ts"
import { Access } from "../../guard/Access.ts"
import { group } from "../../guard/Group.ts"
import { Guard } from "../../guard/Guard.ts"
import * as Reply from "../../guard/Reply.ts"
import * as Lists from "../../render/ListResponses.ts"
import { adminRows } from "../../render/PageSizes.ts"
import { pageOf, type PageParameters } from "../../wire/PageQuery.ts"
import { AccountIdPath } from "../../wire/ReadRequests.ts"
import { AdminAccountViews } from "../render/AdminAccountViews.ts"
import { AdminAccount, AdminAccountsQuery, AdminAccountsQueryV2 } from "../wire/AdminAccount.ts"
import { type AccountSelection, legacySelection, selection } from "./AccountSelections.ts"

const reading = Access.staff("manageUsers", "admin:read", "admin:read:accounts")
const path = "/api/v1/admin/accounts"

export class AdminAccountsGroup extends HttpApiGroup.make("admin/accounts")
  .add(
    HttpApiEndpoint.get("legacy", path, { query: AdminAccountsQuery, success: Schema.Array(AdminAccount) })
      .annotate(Access, reading),
    HttpApiEndpoint.get("all", "/api/v2/admin/accounts", {
      query: AdminAccountsQueryV2,
      success: Schema.Array(AdminAccount)
    }).annotate(Access, reading),
    HttpApiEndpoint.get("show", `${path}/:id`, { params: AccountIdPath, success: AdminAccount })
      .annotate(Access, reading)
  )
  .middleware(Guard)
{}

/** Query parameters that pagination links repeat. */
const shared = ["username", "display_name", "by_domain", "email", "ip", "invited_by"]
const legacyNames = [
  ...shared,
  "local",
  "remote",
  "active",
  "pending",
  "disabled",
  "sensitized",
  "silenced",
  "suspended",
  "staff"
]
const names = [...shared, "origin", "status", "permissions"]

/** Lists of accounts for moderators (S-166, S-167). */
export const layer = group(
  AdminAccountsGroup,
  Effect.fn(function*(handlers) {
    const accounts = yield* AdminAccounts
    const views = yield* AdminAccountViews
    const { publicUrl } = yield* ServerConfig

    const list = Effect.fnUntraced(
      function*(path: string, parameters: ReadonlyArray<string>, selection: AccountSelection, query: PageParameters) {
        const page = pageOf(query, adminRows)
        const ids = yield* accounts.page(selection, page)
        const { url } = yield* HttpServerRequest.HttpServerRequest
        return Lists.page({
          baseUrl: publicUrl,
          path,
          page,
          rows: ids,
          cursor: (one) => one,
          items: yield* views.render(ids),
          keep: {
            ...Lists.linkParameters(url, parameters),
            ["role_ids"]: selection.roleIds?.map(String)
          }
        })
      }
    )

    return handlers.handleAll({
      legacy: traced("admin.accounts.legacy")(({ query }) => list(path, legacyNames, legacySelection(query), query)),
      all: traced("admin.accounts.all")(function*({ query }) {
        return yield* list("/api/v2/admin/accounts", names, yield* selection(query), query)
      }),
      show: traced("admin.accounts.show")(function*({ params }) {
        return Reply.json(yield* views.renderOne(params.id))
      })
    })
  })
).pipe(Layer.provide([AdminAccountViews.layer, AdminAccounts.layer]))
