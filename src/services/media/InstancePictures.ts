import { Context, type Effect } from "effect"
import type { MediaRefused, MediaToolFailed, Rendition, Source } from "./MediaTools.ts"

/** The picture of the site in previews: 1200x630, and twice that where it was large enough. */
interface ThumbnailFile {
  readonly single: Rendition
  readonly double: Rendition | undefined
  readonly blurhash: string
}

/** A square icon. */
interface IconFile {
  readonly edge: number
  readonly rendition: Rendition
}

/** Makes pictures that the operator gives to the site. */
export class InstancePictures extends Context.Service<InstancePictures, {
  /** An emoji, and its still form where it moves. */
  readonly emoji: (source: Source, folder: string) => Effect.Effect<
    { readonly moving: Rendition; readonly still: Rendition | undefined },
    MediaRefused | MediaToolFailed
  >
  /** The middle of a picture as squares with these edges, in pixels. */
  readonly icons: (source: Source, folder: string, edges: ReadonlyArray<number>) => Effect.Effect<
    ReadonlyArray<IconFile>,
    MediaRefused | MediaToolFailed
  >
  readonly thumbnail: (source: Source, folder: string) => Effect.Effect<ThumbnailFile, MediaRefused | MediaToolFailed>
}>()("murmuration/services/media/InstancePictures") {}
