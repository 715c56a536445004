import { Option, Schema } from "effect"

/** Pictures of the site: preview image, app icon, and favicon. */
export const instancePictureKinds = ["thumbnail", "appIcon", "favicon"] as const
export type InstancePictureKind = typeof instancePictureKinds[number]

/** Names of the settings with the pictures. */
export const pictureSettings: Readonly<Record<InstancePictureKind, string>> = {
  thumbnail: "site_thumbnail",
  appIcon: "site_app_icon",
  favicon: "site_favicon"
}

/** Edges of icons, in pixels. Clients are told of `iconEdges`; Apple's devices ask for the other one. */
export const iconEdges = [36, 48, 72, 96, 144, 192, 256, 384, 512] as const
export const appleIconEdge = 180
export const appIconEdges: ReadonlyArray<number> = [...iconEdges, appleIconEdge]
export const faviconEdges = [16, 32, 48] as const

/** Names of stored files; `doubleName` has twice the size, if there is one. */
const InstanceThumbnail = Schema.Struct({
  fileName: Schema.String,
  doubleName: Schema.NullOr(Schema.String),
  blurhash: Schema.String,
  description: Schema.String
})
export type InstanceThumbnail = typeof InstanceThumbnail.Type

/** Names of stored files by the edge of the picture. */
const InstanceIcon = Schema.Struct({ names: Schema.Record(Schema.String, Schema.String) })
export type InstanceIcon = typeof InstanceIcon.Type

const decodeThumbnail = Schema.decodeUnknownOption(InstanceThumbnail)
const decodeIcon = Schema.decodeUnknownOption(InstanceIcon)

/** Decodes the picture in a setting; null if it is unset or invalid. */
export const instanceThumbnailOf = (value: unknown): InstanceThumbnail | null =>
  Option.getOrNull(decodeThumbnail(value))
export const instanceIconOf = (value: unknown): InstanceIcon | null => Option.getOrNull(decodeIcon(value))

/** Returns the stored file of an icon in this size; undefined if there is no such size. */
export const iconName = (icon: InstanceIcon | null, edge: number): string | undefined => icon?.names[String(edge)]
