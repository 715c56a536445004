import { Schema } from "effect"
import { Account } from "./Account.ts"
import { Id } from "./Common.ts"
import { Status } from "./Status.ts"

/** Direct messages with the same people; `accounts` are the others, or the owner if there are no others. */
export const Conversation = Schema.Struct({
  id: Id,
  unread: Schema.Boolean,
  accounts: Schema.Array(Account),
  last_status: Schema.NullOr(Status)
}).annotate({ identifier: "Conversation" })
export type Conversation = typeof Conversation.Type
