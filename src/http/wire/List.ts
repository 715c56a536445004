import { Schema } from "effect"
import { Id } from "./Common.ts"
import { Flag, list, Text } from "./Params.ts"

export const List = Schema.Struct({
  id: Id,
  title: Schema.String,
  replies_policy: Schema.Literals(["followed", "list", "none"]),
  exclusive: Schema.Boolean
}).annotate({ identifier: "List" })
export type List = typeof List.Type

/** Fields of a list that a client sets. */
export const ListWrite = Schema.Struct({
  title: Schema.optionalKey(Schema.NullOr(Text)),
  repliesPolicy: Schema.optionalKey(Schema.NullOr(Text)),
  exclusive: Schema.optionalKey(Flag)
}).pipe(Schema.encodeKeys({ repliesPolicy: "replies_policy" }))
export type ListWrite = typeof ListWrite.Type

/** Members to add or remove: accounts by id, hashtags by name. */
export const ListAccounts = Schema.Struct({ accountIds: Schema.optionalKey(list(Text)) }).pipe(
  Schema.encodeKeys({ accountIds: "account_ids" })
)
export const ListTags = Schema.Struct({ tags: Schema.optionalKey(list(Text)) })
