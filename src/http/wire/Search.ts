import { Schema } from "effect"
import { Account } from "./Account.ts"
import { Collection } from "./Collection.ts"
import { Status } from "./Status.ts"
import { Tag } from "./Tag.ts"

export const Search = Schema.Struct({
  accounts: Schema.Array(Account),
  statuses: Schema.Array(Status),
  hashtags: Schema.Array(Tag),
  collections: Schema.Array(Collection)
}).annotate({ identifier: "Search" })
export type Search = typeof Search.Type
