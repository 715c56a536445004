import { Schema } from "effect"
import { Account } from "../../wire/Account.ts"
import { Count, Id, Url } from "../../wire/Common.ts"
import { Status } from "../../wire/Status.ts"

const NamedCount = Schema.Struct({ name: Schema.String, count: Count })
const AccountCount = Schema.Struct({ account_id: Id, count: Count })

const AnnualReport = Schema.Struct({
  year: Schema.Int,
  data: Schema.Struct({
    archetype: Schema.String,
    type_distribution: Schema.Struct({ total: Count, reblogs: Count, replies: Count, standalone: Count }),
    top_statuses: Schema.Struct({
      by_reblogs: Schema.NullOr(Id),
      by_favourites: Schema.NullOr(Id),
      by_replies: Schema.NullOr(Id)
    }),
    most_used_apps: Schema.Array(NamedCount),
    top_hashtags: Schema.Array(NamedCount),
    most_reblogged_accounts: Schema.Array(AccountCount),
    commonly_interacted_with_accounts: Schema.Array(AccountCount),
    time_series: Schema.Array(
      Schema.Struct({ month: Schema.Int, statuses: Count, following: Count, followers: Count })
    )
  }),
  schema_version: Schema.Int,
  share_url: Schema.NullOr(Url),
  account_id: Id
}).annotate({ identifier: "AnnualReport" })
export type AnnualReport = typeof AnnualReport.Type

/** Annual reports, and the accounts and statuses that the reports name. */
export const AnnualReports = Schema.Struct({
  annual_reports: Schema.Array(AnnualReport),
  accounts: Schema.Array(Account),
  statuses: Schema.Array(Status)
}).annotate({ identifier: "AnnualReports" })
export type AnnualReports = typeof AnnualReports.Type

export const AnnualReportState = Schema.Struct({
  state: Schema.Literals(["available", "generating", "eligible", "ineligible"])
})
export type AnnualReportState = typeof AnnualReportState.Type

/** Year in the path; any other number is not a year. */
export const YearPath = { year: Schema.String }
