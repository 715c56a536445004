import { Effect } from "effect"
import { fileTypeFromBuffer } from "file-type"

/*
 * Which files this server knows, by their content: what a client calls a file or says of it counts for nothing (safety
 * rows 44 to 47). Other types, SVG above all, never reach a decoder.
 */

/** What a type shows; `gif` may move, which only a decoder can tell. */
export type FileKind = "picture" | "gif" | "video" | "audio"

export interface FileType {
  readonly mime: string
  readonly kind: FileKind
}

/** The types that there are tools for, or words to refuse them with. */
const kinds = new Map<string, FileKind>([
  ["image/jpeg", "picture"],
  ["image/png", "picture"],
  ["image/gif", "gif"],
  ["image/webp", "picture"],
  ["image/avif", "picture"],
  ["image/heic", "picture"],
  ["image/heif", "picture"],
  ["audio/mp4", "audio"],
  ["video/quicktime", "video"],
  ["video/mp4", "video"],
  ["video/webm", "video"],
  ["video/x-ms-asf", "video"],
  ["audio/wave", "audio"],
  ["audio/flac", "audio"],
  ["audio/ogg", "audio"],
  ["audio/mpeg", "audio"],
  ["audio/aac", "audio"]
])

/** What the library calls differently, or more finely than the tools need. */
const renamed: Readonly<Record<string, string>> = {
  "image/apng": "image/png",
  "image/heic-sequence": "image/heic",
  "image/heif-sequence": "image/heif",
  "audio/x-m4a": "audio/mp4",
  "video/x-m4v": "video/mp4",
  "application/vnd.ms-asf": "video/x-ms-asf",
  "audio/x-ms-asf": "video/x-ms-asf",
  "video/3gpp": "video/mp4",
  "video/3gpp2": "video/mp4",
  "audio/wav": "audio/wave",
  "audio/x-flac": "audio/flac",
  "application/ogg": "audio/ogg",
  "audio/ogg; codecs=opus": "audio/ogg",
  "video/ogg": "audio/ogg"
}

/** Bytes of a file that `sniff` looks at. */
export const headBytes = 4_100

/** The type of a file by its first bytes. A library knows formats; which of them are taken is decided here. */
export const sniff = (head: Uint8Array): Effect.Effect<FileType | undefined> =>
  Effect.tryPromise(() => fileTypeFromBuffer(head.subarray(0, headBytes))).pipe(
    // What breaks off in the middle of what it claims to be is none.
    Effect.orElseSucceed(() => undefined),
    Effect.map((found) => found && typeNamed(renamed[found.mime] ?? found.mime))
  )

/** A type by its name, as a row keeps it. */
export const typeNamed = (mime: string): FileType | undefined => {
  const kind = kinds.get(mime)
  return kind && { mime, kind }
}

/** Other names that clients know these types by, for what the instance says it takes. */
const aliases: Record<string, ReadonlyArray<string>> = {
  "audio/wave": ["audio/wav", "audio/x-wav", "audio/x-pn-wave", "audio/vnd.wave"],
  "audio/mpeg": ["audio/mp3"],
  // What is in them is a sound where no picture is.
  "video/webm": ["audio/webm"],
  "video/mp4": ["audio/3gpp"],
  "audio/mp4": ["audio/x-m4a", "audio/m4a"],
  "audio/ogg": ["audio/vorbis", "audio/opus", "video/ogg"],
  "audio/aac": ["audio/x-aac"],
  "audio/flac": ["audio/x-flac"]
}

/** The names of types for clients, without doubles. */
export const mimeNames = (types: Iterable<string>): ReadonlyArray<string> => [
  ...new Set(Array.from(types).flatMap((mime) => [mime].concat(aliases[mime] ?? [])))
]

/** What this server itself stores and serves, by the ending of the name that it gave. */
export const servedTypes: Readonly<Record<string, string>> = {
  jpg: "image/jpeg",
  png: "image/png",
  webp: "image/webp",
  gif: "image/gif",
  mp4: "video/mp4",
  mp3: "audio/mpeg"
}
export type ServedExtension = "jpg" | "png" | "webp" | "gif" | "mp4" | "mp3"

/** The ending of what a client sent and nobody is served. */
export const uploadExtension = "upload"
