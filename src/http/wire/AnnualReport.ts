import { Schema } from "effect"
import { Account } from "./Account.ts"
import { json } from "./Keys.ts"
import { Status } from "./Status.ts"

/** Reports of years, and the accounts and statuses that they name. */
export const AnnualReports = Schema.Struct({
  annual_reports: Schema.Array(Schema.Unknown),
  accounts: Schema.Array(Account),
  statuses: Schema.Array(Status)
}).annotate({ identifier: "AnnualReports" })
export type AnnualReports = typeof AnnualReports.Type

export const noReports = json<AnnualReports>({ annualReports: [], accounts: [], statuses: [] })
