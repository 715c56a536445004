import { foreignAttachmentsMax, foreignDescriptionCharactersMax } from "../../instance/ForeignLimits.ts"
import { type MediaType, type Size, sizeOf } from "../../media/MediaRecord.ts"
import { asForeign, asList, asText, type Foreign, type ReadUrl, typeOf } from "./ForeignValues.ts"

/** Maximum claimed edge of a picture, in pixels, and maximum characters of its blurhash. */
const edgePixelsMax = 65_536
const blurhashCharactersMax = 128

/** Remote picture and its description. */
export interface ForeignPicture {
  readonly url: string
  readonly description: string
}

/** Attachment of a remote post; the file itself was not fetched. */
export interface ForeignAttachment {
  readonly type: MediaType
  readonly url: string
  readonly previewUrl: string | null
  readonly description: string | null
  readonly focus: { readonly x: number; readonly y: number } | undefined
  readonly size: Size | undefined
  readonly blurhash: string | null
}

/** Returns the URL of a picture or file: its own, or that of its first link. */
const addressOf = (value: unknown, readUrl: ReadUrl): string | undefined => {
  const links = asList(asForeign(value)?.["url"] ?? value)
  return links.map((link) => readUrl(asForeign(link)?.["href"] ?? link)).find((url) => url !== undefined)?.href
}

/**
 * Returns the first non-empty description: posts have it in the name, profiles in the summary (federation.md sections 3
 * and 9).
 */
const wordsOf = (file: Foreign | undefined, ...fields: ReadonlyArray<"name" | "summary">): string | undefined =>
  fields.map((field) => asText(file?.[field], foreignDescriptionCharactersMax)).find((words) => words)

/** Parses an `icon` or `image` (federation.md section 3). */
export const foreignPicture = (value: unknown, readUrl: ReadUrl): ForeignPicture | undefined => {
  const [first] = asList(value)
  const url = addressOf(first, readUrl)
  return url === undefined ? undefined : { url, description: wordsOf(asForeign(first), "summary", "name") ?? "" }
}

const kinds: Readonly<Record<string, MediaType>> = { image: "image", video: "video", audio: "audio" }

const kindOf = (file: Foreign): MediaType => {
  const named = typeof file["mediaType"] === "string"
    ? file["mediaType"]
    : typeOf(file, "Image", "Video", "Audio") ?? ""
  return kinds[named.split("/")[0]?.toLowerCase() ?? ""] ?? "unknown"
}

const focusOf = (value: unknown) => {
  const [x, y] = Array.isArray(value) ? value : []
  const within = (part: unknown): part is number => typeof part === "number" && part >= -1 && part <= 1
  return within(x) && within(y) ? { x, y } : undefined
}

const measured = (width: unknown, height: unknown): Size | undefined => {
  const edge = (value: unknown): value is number =>
    typeof value === "number" && Number.isInteger(value) && value > 0 && value <= edgePixelsMax
  return edge(width) && edge(height) ? sizeOf(width, height) : undefined
}

/**
 * Parses the attachments of a note, at most `foreignAttachmentsMax` (federation.md section 9); `fit` truncates
 * descriptions.
 */
export const foreignAttachments = (
  note: Foreign,
  readUrl: ReadUrl,
  fit: (text: string) => string
): ReadonlyArray<ForeignAttachment> =>
  asList(note["attachment"]).slice(0, foreignAttachmentsMax * 4).flatMap((item) => {
    const file = asForeign(item)
    if (file === undefined || typeOf(file, "Document", "Image", "Video", "Audio") === undefined) return []
    const url = addressOf(file, readUrl)
    if (url === undefined) return []
    const blurhash = asText(file["blurhash"], blurhashCharactersMax) ?? ""
    return [{
      type: kindOf(file),
      url,
      previewUrl: addressOf(asList(file["icon"])[0], readUrl) ?? null,
      description: fit(wordsOf(file, "name", "summary") ?? "") || null,
      focus: focusOf(file["focalPoint"]),
      size: measured(file["width"], file["height"]),
      blurhash: /^[\x21-\x7e]{6,128}$/.test(blurhash) ? blurhash : null
    }]
  }).slice(0, foreignAttachmentsMax)
