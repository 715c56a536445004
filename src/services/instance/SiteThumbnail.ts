import { Option, Schema } from "effect"

/** The setting that holds the site's picture in previews. */
export const siteThumbnailSetting = "site_thumbnail"

/** Names of stored files; `doubleName` is twice as large, where there is one. */
export const SiteThumbnail = Schema.Struct({
  fileName: Schema.String,
  doubleName: Schema.NullOr(Schema.String),
  blurhash: Schema.String,
  description: Schema.String
})
export type SiteThumbnail = typeof SiteThumbnail.Type

const decode = Schema.decodeUnknownOption(SiteThumbnail)

/** The picture of a setting's value; null where it is not set. */
export const siteThumbnailOf = (value: unknown): SiteThumbnail | null => Option.getOrNull(decode(value))
