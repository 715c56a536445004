import { Context, type Effect, Schema } from "effect"
import type { FileType, ServedExtension } from "./FileTypes.ts"
import type { Focus } from "./MediaAttachments.ts"
import type { Colors, MediaType, Meta, Size } from "./MediaRecord.ts"

/** The file is not accepted; `text` is the reason for its owner. */
export class MediaRefused extends Schema.TaggedError<MediaRefused>()("MediaRefused", { text: Schema.String }) {
  override get message() {
    return this.text
  }
}

/** A tool crashed, hung or exceeded its limits; another attempt may succeed. */
export class MediaToolFailed extends Schema.TaggedError<MediaToolFailed>()("MediaToolFailed", { text: Schema.String }) {
  override get message() {
    return this.text
  }
}

/** A local file, with the type of its content. */
export interface Source {
  readonly path: string
  readonly type: FileType
}

/** A file that a tool wrote into the given folder. */
export interface Rendition {
  readonly path: string
  readonly extension: ServedExtension
  readonly bytes: number
}

export interface RenderedMedia {
  readonly type: MediaType
  readonly original: Rendition
  readonly preview: Rendition | undefined
  readonly meta: Meta
  readonly blurhash: string | null
}

/** Kind of profile image: an avatar is cropped to a square, a header keeps its aspect ratio. */
export type ProfilePicture = "avatar" | "header"

/** Decodes and encodes images, video and audio. The output has only the visible and audible content of a source. */
export class MediaTools extends Context.Service<MediaTools, {
  /** Types that it decodes, as `FileType.mime`. */
  readonly types: ReadonlySet<string>
  /** Renders a file; `thumbnail` is the preview of a file without an image of its own. */
  readonly attachment: (source: Source, folder: string, thumbnail: Source | undefined) => Effect.Effect<
    RenderedMedia,
    MediaRefused | MediaToolFailed
  >
  /**
   * Returns the displayed size of an image from its first bytes; undefined if these do not contain it. Decodes nothing.
   */
  readonly measure: (head: Uint8Array) => Effect.Effect<Size | undefined>
  /** Renders a still image as the preview of another file. */
  readonly preview: (source: Source, folder: string) => Effect.Effect<
    { readonly rendition: Rendition; readonly size: Size; readonly blurhash: string; readonly colors: Colors },
    MediaRefused | MediaToolFailed
  >
  /** Renders a profile image, and its static version if animated. A still one is cropped around `focus`. */
  readonly profilePicture: (source: Source, folder: string, kind: ProfilePicture, focus?: Focus) => Effect.Effect<
    {
      readonly animated: Rendition
      readonly still: Rendition | undefined
      /** Perceptual hash of an avatar (`Likeness.ts`); 0 for a header. */
      readonly likeness: bigint
    },
    MediaRefused | MediaToolFailed
  >
  /** Returns the perceptual hash of an image; 0 if unreadable or plain. */
  readonly likeness: (file: Uint8Array) => Effect.Effect<bigint>
}>()("murmuration/services/media/MediaTools") {}
