import { Schema } from "effect"
import { ReportCategory } from "../../../services/moderation/Reports.ts"
import { Collection } from "../../wire/Collection.ts"
import { Id, Timestamp } from "../../wire/Common.ts"
import { Rule } from "../../wire/Instance.ts"
import { Cursor, pageFields, pageKeys } from "../../wire/PageQuery.ts"
import { Flag, list, Text } from "../../wire/Params.ts"
import { Status } from "../../wire/Status.ts"
import { AdminAccount } from "./AdminAccount.ts"

export const AdminReport = Schema.Struct({
  id: Id,
  action_taken: Schema.Boolean,
  action_taken_at: Schema.NullOr(Timestamp),
  category: ReportCategory,
  comment: Schema.String,
  forwarded: Schema.Boolean,
  created_at: Timestamp,
  updated_at: Timestamp,
  account: AdminAccount,
  target_account: AdminAccount,
  assigned_account: Schema.NullOr(AdminAccount),
  action_taken_by_account: Schema.NullOr(AdminAccount),
  statuses: Schema.Array(Status),
  rules: Schema.Array(Rule),
  collections: Schema.Array(Collection)
}).annotate({ identifier: "Admin_Report" })
export type AdminReport = typeof AdminReport.Type

const flag = Schema.optionalKey(Flag)

/** `GET /api/v1/admin/reports` */
export const AdminReportsQuery = Schema.Struct({
  ...pageFields,
  resolved: flag,
  unresolved: flag,
  accountId: Schema.optionalKey(Cursor),
  targetAccountId: Schema.optionalKey(Cursor),
  byTargetDomain: Schema.optionalKey(Text)
}).pipe(Schema.encodeKeys({
  ...pageKeys,
  accountId: "account_id",
  targetAccountId: "target_account_id",
  byTargetDomain: "by_target_domain"
}))

/** `PUT /api/v1/admin/reports/:id` */
export const AdminReportWrite = Schema.Struct({
  category: Schema.optionalKey(Schema.NullOr(Text)),
  ruleIds: Schema.optionalKey(list(Text))
}).pipe(Schema.encodeKeys({ ruleIds: "rule_ids" }))

/** `POST /api/v1/admin/reports/:id/forward`: to these servers, or to the account's own. */
export const ReportForwarding = Schema.Struct({ domains: Schema.optionalKey(list(Text)) })
