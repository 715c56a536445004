import { Schema } from "effect"
import { Url } from "./Common.ts"

export const CustomEmoji = Schema.Struct({
  shortcode: Schema.String,
  url: Url,
  static_url: Url,
  visible_in_picker: Schema.Boolean,
  category: Schema.optionalKey(Schema.String),
  featured: Schema.optionalKey(Schema.Boolean)
})
export type CustomEmoji = typeof CustomEmoji.Type
