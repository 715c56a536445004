import { Option, Schema } from "effect"

/** Pictures that staff give to the site: the one in previews, the icon of an app, and the one in tabs of browsers. */
export const instancePictureKinds = ["thumbnail", "appIcon", "favicon"] as const
export type InstancePictureKind = typeof instancePictureKinds[number]

/** The settings that hold them. */
export const pictureSettings: Readonly<Record<InstancePictureKind, string>> = {
  thumbnail: "site_thumbnail",
  appIcon: "site_app_icon",
  favicon: "site_favicon"
}

/** Edges in which an icon is there, in pixels; clients are told of `iconEdges`, the other one is what Apple's devices ask for. */
export const iconEdges = [36, 48, 72, 96, 144, 192, 256, 384, 512] as const
export const appleIconEdge = 180
export const appIconEdges: ReadonlyArray<number> = [...iconEdges, appleIconEdge]
export const faviconEdges = [16, 32, 48] as const

/** Names of stored files; `doubleName` is twice as large, where there is one. */
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

/** The picture of a setting's value; null where it is not set. */
export const instanceThumbnailOf = (value: unknown): InstanceThumbnail | null =>
  Option.getOrNull(decodeThumbnail(value))
export const instanceIconOf = (value: unknown): InstanceIcon | null => Option.getOrNull(decodeIcon(value))

/** The stored file of an icon in this size, where there is one. */
export const iconName = (icon: InstanceIcon | null, edge: number): string | undefined => icon?.names[String(edge)]
