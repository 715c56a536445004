import { Schema } from "effect"
import { Html, Url } from "./Common.ts"
import { Integer } from "./Params.ts"

/** `GET /api/oembed`; sizes in pixels. */
export const OEmbedQuery = Schema.Struct({
  url: Schema.optionalKey(Schema.String),
  maxwidth: Schema.optionalKey(Integer),
  maxheight: Schema.optionalKey(Integer)
})

/** Embedding of one of our posts on other sites (oembed.com, section 2.3.4.4). */
export const OEmbed = Schema.Struct({
  type: Schema.Literal("rich"),
  version: Schema.Literal("1.0"),
  author_name: Schema.String,
  author_url: Url,
  provider_name: Schema.String,
  provider_url: Url,
  /** Seconds. */
  cache_age: Schema.Int,
  html: Html,
  width: Schema.Int,
  height: Schema.NullOr(Schema.Int)
})
export type OEmbed = typeof OEmbed.Type
