/*
 * Which files this server knows, by their content: what a client calls a file or says of it counts for nothing (safety
 * rows 44 to 47). What is not here, SVG above all, is never given to a decoder.
 */

/** What a type shows; `gif` may move, which only a decoder can tell. */
export type FileKind = "picture" | "gif" | "video" | "audio"

export interface FileType {
  readonly mime: string
  readonly kind: FileKind
  /** What its bytes begin with: text as Latin-1 at an offset, all of them. */
  readonly marks: ReadonlyArray<readonly [offset: number, text: string]>
}

const type = (mime: string, kind: FileKind, ...marks: FileType["marks"]): FileType => ({ mime, kind, marks })
/** Brands of the ISO base media container (ISO 14496-12), of which `ftyp` tells. */
const brand = (mime: string, kind: FileKind, name: string) => type(mime, kind, [4, "ftyp"], [8, name])

/** In the order in which they are tried. */
const known: ReadonlyArray<FileType> = [
  type("image/jpeg", "picture", [0, "\xff\xd8\xff"]),
  type("image/png", "picture", [0, "\x89PNG\r\n\x1a\n"], [12, "IHDR"]),
  type("image/gif", "gif", [0, "GIF87a"]),
  type("image/gif", "gif", [0, "GIF89a"]),
  type("image/webp", "picture", [0, "RIFF"], [8, "WEBP"]),
  brand("image/avif", "picture", "avif"),
  brand("image/avif", "picture", "avis"),
  brand("image/heic", "picture", "heic"),
  brand("image/heif", "picture", "mif1"),
  brand("audio/mp4", "audio", "M4A"),
  brand("video/quicktime", "video", "qt"),
  type("video/mp4", "video", [4, "ftyp"]),
  type("video/webm", "video", [0, "\x1a\x45\xdf\xa3"]),
  type("audio/wave", "audio", [0, "RIFF"], [8, "WAVE"]),
  type("audio/flac", "audio", [0, "fLaC"]),
  type("audio/ogg", "audio", [0, "OggS"]),
  type("audio/mpeg", "audio", [0, "ID3"]),
  type("audio/aac", "audio", [0, "\xff\xf1"]),
  type("audio/aac", "audio", [0, "\xff\xf9"]),
  type("audio/mpeg", "audio", [0, "\xff\xfb"]),
  type("audio/mpeg", "audio", [0, "\xff\xf3"]),
  type("audio/mpeg", "audio", [0, "\xff\xf2"]),
  type("audio/mpeg", "audio", [0, "\xff\xfa"])
]

/** Bytes of a file that `sniff` looks at. */
export const headBytes = 64

/** The type of a file by its first bytes. */
export const sniff = (head: Uint8Array): FileType | undefined => {
  const text = Array.from(head.subarray(0, headBytes), (byte) => String.fromCharCode(byte)).join("")
  return known.find(({ marks }) => marks.every(([offset, mark]) => text.startsWith(mark, offset)))
}

/** A type by its name, as a row keeps it. */
export const typeNamed = (mime: string): FileType | undefined => known.find((type) => type.mime === mime)

/** Other names that clients know these types by, for what the instance says it takes. */
const aliases: Record<string, ReadonlyArray<string>> = {
  "audio/wave": ["audio/wav", "audio/x-wav", "audio/x-pn-wave", "audio/vnd.wave"],
  "audio/mpeg": ["audio/mp3"],
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
