import { Array as Arr, Effect, Schema } from "effect"
import { Access } from "../../guard/Access.ts"
import * as Reply from "../../guard/Reply.ts"
import { AnnualReports, noReports } from "../../wire/AnnualReport.ts"
import { encode } from "../../wire/Keys.ts"
import { absent, refused, type Route, value } from "./Route.ts"

type Routes = Arr.NonEmptyReadonlyArray<Route>

const { user } = Access
const write = (kind: string) => user("write", `write:${kind}`)
const read = (kind: string) => user("read", `read:${kind}`)
const changeOrDelete = ["PUT", "PATCH", "DELETE"] as const

const onAccounts: Routes = [
  absent("POST", "/api/v1/accounts/:id/email_subscriptions", Access.anyoneUnlessRestricted)
]

const Collections = Schema.Struct({ collections: Schema.Array(Schema.Unknown) })
const noCollections = encode<typeof Collections.Type>({ collections: [] })

const collections: Routes = [
  value("/api/v1/accounts/:id/collections", Access.public("read", "read:collections"), Collections, noCollections),
  value("/api/v1/accounts/:id/in_collections", read("collections"), Collections, noCollections),
  refused("POST", "/api/v1/collections", write("collections"), "keep collections"),
  absent("GET", "/api/v1/collections/:id", Access.public("read", "read:collections")),
  absent(changeOrDelete, "/api/v1/collections/:id", write("collections")),
  absent("POST", "/api/v1/collections/:collection_id/items", write("collections")),
  absent("DELETE", "/api/v1/collections/:collection_id/items/:id", write("collections")),
  absent("POST", "/api/v1/collections/:collection_id/items/:id/revoke", write("collections"))
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
  collections,
  others
])
