import { Schema } from "effect"
import { Timestamptz } from "../database/Rows.ts"

/** Actions of strikes, as in `AccountWarning` (entities.md). */
export const StrikeAction = Schema.Literals([
  "none",
  "disable",
  "mark_statuses_as_sensitive",
  "delete_statuses",
  "sensitive",
  "silence",
  "suspend"
])
export type StrikeAction = typeof StrikeAction.Type

export const AppealState = Schema.Literals(["pending", "approved", "rejected"])

/** A strike with its appeal, if any. */
export const Strike = Schema.Struct({
  id: Schema.BigInt,
  targetAccountId: Schema.BigInt,
  action: StrikeAction,
  text: Schema.String,
  statusIds: Schema.Array(Schema.BigInt),
  /** Names of the affected collections at that time. */
  collectionNames: Schema.Array(Schema.String),
  createdAt: Timestamptz,
  overruledAt: Schema.NullOr(Timestamptz),
  appealText: Schema.NullOr(Schema.String),
  appealState: Schema.NullOr(AppealState)
})
export type Strike = typeof Strike.Type
