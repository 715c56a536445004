import { Schema } from "effect"
import { Day, Figure, Id, Url } from "./Common.ts"
import { Text } from "./Params.ts"

/** Hashtag to feature, with or without the #. */
export const TagName = Schema.Struct({ name: Schema.optionalKey(Schema.NullOr(Text)) })

export const ShallowTag = Schema.Struct({ name: Schema.String, url: Url }).annotate({ identifier: "ShallowTag" })
export type ShallowTag = typeof ShallowTag.Type

/** Use on one day; `day` is its midnight in seconds since 1970. */
export const History = Schema.Struct({ day: Figure, uses: Figure, accounts: Figure })

/** `id` is empty for a hashtag that no post has used; `history` covers seven days, today first. */
export const Tag = Schema.Struct({
  id: Schema.Union([Id, Schema.Literal("")]),
  name: Schema.String,
  url: Url,
  history: Schema.Array(History),
  following: Schema.optionalKey(Schema.Boolean),
  featuring: Schema.optionalKey(Schema.Boolean)
}).annotate({ identifier: "Tag" })
export type Tag = typeof Tag.Type

export const FeaturedTag = Schema.Struct({
  id: Id,
  name: Schema.String,
  url: Url,
  statuses_count: Figure,
  last_status_at: Schema.NullOr(Day)
}).annotate({ identifier: "FeaturedTag" })
export type FeaturedTag = typeof FeaturedTag.Type
