import { Effect, Layer, Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { reportVersion } from "../../services/annual/AnnualReport.ts"
import { type AnnualReport as ReportRecord, AnnualReports } from "../../services/annual/AnnualReports.ts"
import { ShareKeys } from "../../services/annual/ShareKeys.ts"
import type { AccountId } from "../../services/database/Ids.ts"
import { Accounts } from "../../services/identity/Accounts.ts"
import { ServerConfig } from "../../services/instance/ServerConfig.ts"
import * as Urls from "../../services/instance/Urls.ts"
import { RecordNotFound } from "../../services/runtime/Errors.ts"
import { traced } from "../../services/runtime/Traced.ts"
import { Access } from "../guard/Access.ts"
import { Caller } from "../guard/Caller.ts"
import { group } from "../guard/Group.ts"
import { Guard } from "../guard/Guard.ts"
import * as Reply from "../guard/Reply.ts"
import { AccountViews } from "../render/AccountViews.ts"
import { StatusViews } from "../render/StatusViews.ts"
import { asyncRefresh } from "../v1/AsyncRefreshRoutes.ts"
import { id } from "../wire/Common.ts"
import { json, list, withMembers } from "../wire/Keys.ts"
import * as Wire from "./wire/AnnualReport.ts"

const path = "/api/v1/annual_reports"
const nothing = Schema.Struct({})
const reading = Access.user("read", "read:accounts")
const writing = Access.user("write", "write:accounts")

export class AnnualReportsGroup extends HttpApiGroup.make("annualReports")
  .add(
    HttpApiEndpoint.get("pending", path, { success: Wire.AnnualReports }).annotate(Access, reading),
    HttpApiEndpoint.get("show", `${path}/:year`, { params: Wire.YearPath, success: Wire.AnnualReports })
      .annotate(Access, reading),
    HttpApiEndpoint.get("state", `${path}/:year/state`, { params: Wire.YearPath, success: Wire.AnnualReportState })
      .annotate(Access, reading),
    HttpApiEndpoint.post("generate", `${path}/:year/generate`, {
      params: Wire.YearPath,
      success: [nothing, nothing.pipe(HttpApiSchema.status(202))]
    }).annotate(Access, writing),
    HttpApiEndpoint.post("read", `${path}/:year/read`, { params: Wire.YearPath, success: nothing })
      .annotate(Access, writing)
  )
  .middleware(Guard)
{}

const yearOf = ({ year }: { readonly year: string }) =>
  /^[0-9]{4}$/.test(year) ? Effect.succeed(Number(year)) : Effect.fail(new RecordNotFound())

/** Reports on a member's year, offered in December and kept. */
export const layer = group(
  AnnualReportsGroup,
  Effect.fn(function*(handlers) {
    const reports = yield* AnnualReports
    const accounts = yield* AccountViews
    const records = yield* Accounts
    const statuses = yield* StatusViews
    const config = yield* ServerConfig
    const keys = yield* ShareKeys

    const reportsJson = Effect.fnUntraced(function*(owner: AccountId, found: ReadonlyArray<ReportRecord>) {
      const accountIds = found.flatMap(({ commonlyInteractedWithAccounts, mostRebloggedAccounts }) =>
        [...commonlyInteractedWithAccounts, ...mostRebloggedAccounts].map(({ accountId }) => BigInt(accountId))
      )
      const [member] = yield* records.load([owner])
      const shareUrl = (account: AccountId, year: number) =>
        `${Urls.profile(config, member?.username ?? "")}/wrapstodon/${year}/${keys.of(account, year)}`
      const statusIds = found.flatMap(({ topStatuses: { byFavourites, byReblogs, byReplies } }) =>
        [byReblogs, byFavourites, byReplies].flatMap((one) => one === null ? [] : [BigInt(one)])
      )
      return Reply.json(withMembers<Wire.AnnualReports, "annualReports" | "accounts" | "statuses">({}, {
        annualReports: list(found.map(({ year, ...data }) =>
          json<Wire.AnnualReport>({
            year,
            data,
            schemaVersion: reportVersion,
            shareUrl: shareUrl(owner, year),
            accountId: id(owner)
          })
        )),
        accounts: list(yield* accounts.render([...new Set([owner, ...accountIds])])),
        statuses: list(yield* statuses.render(owner, [...new Set(statusIds)]))
      }))
    })

    return handlers.handleAll({
      pending: traced("annualReports.pending")(function*() {
        const owner = yield* Caller.account
        return yield* reportsJson(owner, yield* reports.pending(owner))
      }),
      show: traced("annualReports.show")(function*({ params }) {
        const owner = yield* Caller.account
        return yield* reportsJson(owner, [yield* reports.find(owner, yield* yearOf(params))])
      }),
      state: traced("annualReports.state")(function*({ params }) {
        const owner = yield* Caller.account
        const state = yield* reports.state(owner, yield* yearOf(params))
        const response = Reply.json(json<Wire.AnnualReportState>({ state }))
        return state === "generating" ? Reply.withHeaders(response, asyncRefresh("report", owner, 0)) : response
      }),
      generate: traced("annualReports.generate")(function*({ params }) {
        const owner = yield* Caller.account
        const isStarted = yield* reports.request(owner, yield* yearOf(params))
        return isStarted
          ? Reply.json(json<{}>({}), { status: 202, headers: asyncRefresh("report", owner, 0) })
          : Reply.empty
      }),
      read: traced("annualReports.read")(function*({ params }) {
        yield* reports.read(yield* Caller.account, yield* yearOf(params))
        return Reply.empty
      })
    })
  })
).pipe(Layer.provide([AccountViews.layer, StatusViews.layer]))
