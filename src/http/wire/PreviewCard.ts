import { Schema } from "effect"
import { Account } from "./Account.ts"
import { Count, Html, Timestamp, Url } from "./Common.ts"
import { History } from "./Tag.ts"

export const PreviewCard = Schema.Struct({
  url: Url,
  title: Schema.String,
  description: Schema.String,
  language: Schema.NullOr(Schema.String),
  type: Schema.Literals(["link", "photo", "video", "rich"]),
  author_name: Schema.String,
  author_url: Schema.String,
  provider_name: Schema.String,
  provider_url: Schema.String,
  html: Html,
  width: Count,
  height: Count,
  image: Schema.NullOr(Url),
  image_description: Schema.String,
  embed_url: Schema.String,
  blurhash: Schema.NullOr(Schema.String),
  published_at: Schema.NullOr(Timestamp),
  authors: Schema.Array(
    Schema.Struct({ name: Schema.String, url: Schema.String, account: Schema.NullOr(Account) })
  ),
  missing_attribution: Schema.optionalKey(Schema.Boolean)
}).annotate({ identifier: "PreviewCard" })
export type PreviewCard = typeof PreviewCard.Type

/** A trending link with its use over seven days, today first. */
export const TrendingLink = Schema.Struct({ ...PreviewCard.fields, history: Schema.Array(History) }).annotate({
  identifier: "TrendingLink"
})
export type TrendingLink = typeof TrendingLink.Type
