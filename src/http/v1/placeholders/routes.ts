import { Array as Arr, Effect, Schema } from "effect"
import { Access } from "../../guard/Access.ts"
import * as Reply from "../../guard/Reply.ts"
import { AnnualReports, noReports } from "../../wire/AnnualReport.ts"
import { encode } from "../../wire/Keys.ts"
import { absent, type Route, value } from "./Route.ts"

type Routes = Arr.NonEmptyReadonlyArray<Route>

const { user } = Access
const read = (kind: string) => user("read", `read:${kind}`)

const onAccounts: Routes = [
  absent("POST", "/api/v1/accounts/:id/email_subscriptions", Access.anyoneUnlessRestricted)
]

const ReportState = Schema.Struct({ state: Schema.Literals(["available", "generating", "eligible", "ineligible"]) })

const others: Routes = [
  value("/api/v1/annual_reports", read("accounts"), AnnualReports, noReports),
  absent("GET", "/api/v1/annual_reports/:year", read("accounts")),
  value(
    "/api/v1/annual_reports/:year/state",
    read("accounts"),
    ReportState,
    encode<typeof ReportState.Type>({ state: "ineligible" })
  ),
  {
    methods: ["GET"],
    path: "/api/v1/donation_campaigns",
    access: user(),
    success: Schema.Void,
    answer: Effect.succeed(Reply.nothing())
  }
]

/** Everything that later capabilities will answer, by capability. */
export const routes = Arr.flatten([
  onAccounts,
  others
])
