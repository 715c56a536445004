import { Schema } from "effect"
import { Count, Id, Timestamp } from "./Common.ts"
import { CustomEmoji } from "./CustomEmoji.ts"

export const Poll = Schema.Struct({
  id: Id,
  expires_at: Schema.NullOr(Timestamp),
  expired: Schema.Boolean,
  multiple: Schema.Boolean,
  votes_count: Count,
  voters_count: Schema.NullOr(Count),
  /** `votes_count` is null while totals are hidden. */
  options: Schema.Array(Schema.Struct({ title: Schema.String, votes_count: Schema.NullOr(Count) })),
  emojis: Schema.Array(CustomEmoji),
  voted: Schema.optionalKey(Schema.Boolean),
  own_votes: Schema.optionalKey(Schema.Array(Count))
}).annotate({ identifier: "Poll" })
export type Poll = typeof Poll.Type
