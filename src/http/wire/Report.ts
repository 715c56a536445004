import { Schema } from "effect"
import { IdFromString, StatusIdFromString } from "../../services/database/Ids.ts"
import { Account } from "./Account.ts"
import { Id, Timestamp } from "./Common.ts"
import { Flag, list, Text } from "./Params.ts"

const Category = Schema.Literals(["spam", "legal", "violation", "other"])

export const Report = Schema.Struct({
  id: Id,
  action_taken: Schema.Boolean,
  action_taken_at: Schema.NullOr(Timestamp),
  category: Category,
  comment: Schema.String,
  forwarded: Schema.NullOr(Schema.Boolean),
  created_at: Timestamp,
  status_ids: Schema.NullOr(Schema.Array(Id)),
  rule_ids: Schema.NullOr(Schema.Array(Id)),
  collection_ids: Schema.Array(Id),
  target_account: Account
}).annotate({ identifier: "Report" })
export type Report = typeof Report.Type

/** `POST /api/v1/reports` */
export const NewReport = Schema.Struct({
  accountId: Schema.optionalKey(Schema.NullOr(Text)),
  statusIds: Schema.optionalKey(list(StatusIdFromString)),
  ruleIds: Schema.optionalKey(list(IdFromString)),
  collectionIds: Schema.optionalKey(list(IdFromString)),
  comment: Schema.optionalKey(Schema.NullOr(Text)),
  category: Schema.optionalKey(Schema.NullOr(Schema.Union([Category, Schema.Literal("")]))),
  forward: Schema.optionalKey(Flag),
  forwardToDomains: Schema.optionalKey(list(Text))
}).pipe(Schema.encodeKeys({
  accountId: "account_id",
  statusIds: "status_ids",
  ruleIds: "rule_ids",
  collectionIds: "collection_ids",
  forwardToDomains: "forward_to_domains"
}))
