import { Context, type Effect } from "effect"
import type { MediaRefused, MediaToolFailed, Rendition, Source } from "./MediaTools.ts"

/** Preview image of the instance: 1200x630, and twice that if the source is large enough. */
interface ThumbnailFile {
  readonly single: Rendition
  readonly double: Rendition | undefined
  readonly blurhash: string
}

/** A square icon; `edge` in pixels. */
interface IconFile {
  readonly edge: number
  readonly rendition: Rendition
}

/** Renders images of the instance. */
export class InstancePictures extends Context.Service<InstancePictures, {
  /** Renders an emoji, and its static version if animated. */
  readonly emoji: (source: Source, folder: string) => Effect.Effect<
    { readonly animated: Rendition; readonly still: Rendition | undefined },
    MediaRefused | MediaToolFailed
  >
  /** Renders the centre of an image as squares with these edges, in pixels. */
  readonly icons: (source: Source, folder: string, edges: ReadonlyArray<number>) => Effect.Effect<
    ReadonlyArray<IconFile>,
    MediaRefused | MediaToolFailed
  >
  readonly thumbnail: (source: Source, folder: string) => Effect.Effect<ThumbnailFile, MediaRefused | MediaToolFailed>
}>()("murmuration/services/media/InstancePictures") {}
