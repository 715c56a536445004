import { Option, Schema } from "effect"

/** The setting that holds the site's picture in previews. */
export const instanceThumbnailSetting = "site_thumbnail"

/** Names of stored files; `doubleName` is twice as large, where there is one. */
export const InstanceThumbnail = Schema.Struct({
  fileName: Schema.String,
  doubleName: Schema.NullOr(Schema.String),
  blurhash: Schema.String,
  description: Schema.String
})
export type InstanceThumbnail = typeof InstanceThumbnail.Type

const decode = Schema.decodeUnknownOption(InstanceThumbnail)

/** The picture of a setting's value; null where it is not set. */
export const instanceThumbnailOf = (value: unknown): InstanceThumbnail | null => Option.getOrNull(decode(value))
