import { Context, type Effect, Schema } from "effect"
import type { FileType, ServedExtension } from "./FileTypes.ts"
import type { Colors, MediaType, Meta, Size } from "./MediaRecord.ts"

/** The file is not what this server takes; `text` is for its owner. */
export class MediaRefused extends Schema.TaggedError<MediaRefused>()("MediaRefused", { text: Schema.String }) {
  override get message() {
    return this.text
  }
}

/** A tool crashed, hung or was stopped by its limits; another attempt may be luckier. */
export class MediaToolFailed extends Schema.TaggedError<MediaToolFailed>()("MediaToolFailed", { text: Schema.String }) {
  override get message() {
    return this.text
  }
}

/** A file on this machine with the type that its content gave it. */
export interface Source {
  readonly path: string
  readonly type: FileType
}

/** A file that a tool wrote into the folder that it was given. */
export interface Rendition {
  readonly path: string
  readonly extension: ServedExtension
  readonly bytes: number
}

export interface Made {
  readonly type: MediaType
  readonly original: Rendition
  readonly preview: Rendition | undefined
  readonly meta: Meta
  readonly blurhash: string | null
}

/** An avatar fills a square, a header keeps its shape. */
export type ProfilePicture = "avatar" | "header"

/** Reads and writes pictures, videos and sounds. Its output holds nothing of a source but what is seen and heard. */
export class MediaTools extends Context.Service<MediaTools, {
  /** Types that it reads, as `FileType.mime`. */
  readonly types: ReadonlySet<string>
  /** Renditions of a file; `thumbnail` is the preview of what has no picture of its own. */
  readonly attachment: (source: Source, folder: string, thumbnail: Source | undefined) => Effect.Effect<
    Made,
    MediaRefused | MediaToolFailed
  >
  /** How large the picture is that begins with these bytes, as it is seen; undefined where they do not say it. Nothing is decoded. */
  readonly measure: (head: Uint8Array) => Effect.Effect<Size | undefined>
  /** A still picture as the preview of something else. */
  readonly preview: (source: Source, folder: string) => Effect.Effect<
    { readonly rendition: Rendition; readonly size: Size; readonly blurhash: string; readonly colors: Colors },
    MediaRefused | MediaToolFailed
  >
  /** A picture of a profile, and its still form where it moves. */
  readonly profilePicture: (source: Source, folder: string, kind: ProfilePicture) => Effect.Effect<
    {
      readonly moving: Rendition
      readonly still: Rendition | undefined
      /** What an avatar looks like (`Likeness.ts`); 0 of a header. */
      readonly likeness: bigint
    },
    MediaRefused | MediaToolFailed
  >
  /** What a picture looks like; 0 for one that cannot be read, or that looks like nothing. */
  readonly likeness: (file: Uint8Array) => Effect.Effect<bigint>
}>()("murmuration/services/media/MediaTools") {}
