import { Schema } from "effect"
import { Id } from "./Common.ts"

export const List = Schema.Struct({
  id: Id,
  title: Schema.String,
  replies_policy: Schema.Literals(["followed", "list", "none"]),
  exclusive: Schema.Boolean
}).annotate({ identifier: "List" })
export type List = typeof List.Type
