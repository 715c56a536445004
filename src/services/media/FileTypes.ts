import { Effect } from "effect"
import { fileTypeFromBuffer } from "file-type"

/*
 * Known file types, by content: names and types declared by clients are ignored (safety rows 44 to 47). Other types,
 * above all SVG, never reach a decoder.
 */

/** Kind of content; `gif` may be animated, which only a decoder can tell. */
export type FileKind = "picture" | "gif" | "video" | "audio"

export interface FileType {
  readonly mime: string
  readonly kind: FileKind
}

/** Types that the tools can read or refuse with a reason. */
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

/** Types that the library names differently, or distinguishes more finely than the tools need. */
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

/** Bytes of a file that `sniff` reads. */
export const headBytes = 4_100

/** Returns the type of a file by its first bytes. A library detects formats; this module decides which are accepted. */
export const sniff = (head: Uint8Array): Effect.Effect<FileType | undefined> =>
  Effect.tryPromise(() => fileTypeFromBuffer(head.subarray(0, headBytes))).pipe(
    // A file that is truncated within its header has no type.
    Effect.orElseSucceed(() => undefined),
    Effect.map((found) => found && typeNamed(renamed[found.mime] ?? found.mime))
  )

/** Returns the type of a MIME type, as stored in rows. */
export const typeNamed = (mime: string): FileType | undefined => {
  const kind = kinds.get(mime)
  return kind && { mime, kind }
}

/** Other names of these types, for the list in the instance entity. */
const aliases: Record<string, ReadonlyArray<string>> = {
  "audio/wave": ["audio/wav", "audio/x-wav", "audio/x-pn-wave", "audio/vnd.wave"],
  "audio/mpeg": ["audio/mp3"],
  // Audio if there is no video track.
  "video/webm": ["audio/webm"],
  "video/mp4": ["audio/3gpp"],
  "audio/mp4": ["audio/x-m4a", "audio/m4a"],
  "audio/ogg": ["audio/vorbis", "audio/opus", "video/ogg"],
  "audio/aac": ["audio/x-aac"],
  "audio/flac": ["audio/x-flac"]
}

/** Returns the MIME types for clients, deduped. */
export const mimeNames = (types: Iterable<string>): ReadonlyArray<string> => [
  ...new Set(Array.from(types).flatMap((mime) => [mime].concat(aliases[mime] ?? [])))
]

/** MIME types of files that this server stores and serves, by its own file extensions. */
export const servedTypes: Readonly<Record<string, string>> = {
  jpg: "image/jpeg",
  png: "image/png",
  webp: "image/webp",
  gif: "image/gif",
  mp4: "video/mp4",
  mp3: "audio/mpeg"
}
export type ServedExtension = "jpg" | "png" | "webp" | "gif" | "mp4" | "mp3"

/** Extension of unprocessed uploads, which are never served. */
export const uploadExtension = "upload"
