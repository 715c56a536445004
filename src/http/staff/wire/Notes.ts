import { Schema } from "effect"
import type { Account } from "../../wire/Account.ts"
import { Id, Timestamp, Url } from "../../wire/Common.ts"
import type { JsonOf, Values } from "../../wire/Keys.ts"
import { Text } from "../../wire/Params.ts"

/** A moderators' note, with its target (type, id and URL) and its author. */
export const ModerationNote = Schema.Struct({
  id: Id,
  content: Schema.String,
  created_at: Timestamp,
  target: Schema.Struct({ type: Schema.Literals(["account", "report"]), id: Id, url: Url }),
  author: Schema.NullOr(
    Schema.Struct({ id: Id, username: Schema.String, acct: Schema.String, display_name: Schema.String })
  )
}).annotate({ identifier: "Admin_ModerationNote" })
export type ModerationNote = typeof ModerationNote.Type

/** Returns the author of a note from the account's JSON; null for a deleted account. */
export const noteAuthor = (text: JsonOf<Account> | undefined): Values<ModerationNote["author"]> => {
  if (text === undefined) return null
  const { acct, display_name: displayName, id, username }: Account = JSON.parse(text)
  return { id, username, acct, displayName }
}

export const NoteWrite = Schema.Struct({ content: Schema.optionalKey(Text) })
