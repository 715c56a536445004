import { momentOf } from "../../runtime/Moments.ts"
import { foreignPicture } from "./ForeignMedia.ts"
import { asForeign, asList, type Foreign, type ReadUrl, typeOf } from "./ForeignValues.ts"

/** Maximum characters of a shortcode, and maximum emoji of one document (row 39). */
export const shortcodeCharactersMax = 128
const emojisMax = 100
/** Maximum characters of a picture's URL: an API page may show thousands. */
const emojiUrlCharactersMax = 512

/** Emoji of another server, used in one of its texts. */
export interface ForeignEmoji {
  readonly shortcode: string
  readonly url: string
  /** Milliseconds since 1970; undefined if its server does not say when it changed. */
  readonly updatedMillis: number | undefined
}

/** Returns a valid shortcode without its colons. */
const shortcodeOf = (name: unknown): string | undefined => {
  if (typeof name !== "string" || name.length > shortcodeCharactersMax + 2) return undefined
  const [, shortcode] = /^:?([a-zA-Z0-9_]{2,})(?::|$)$/.exec(name) ?? []
  return shortcode !== undefined && shortcode.length <= shortcodeCharactersMax ? shortcode : undefined
}

/** Returns the emoji that a document defines for its own texts (federation.md section 9), deduplicated by shortcode. */
export const foreignEmojis = (document: Foreign, readUrl: ReadUrl): ReadonlyArray<ForeignEmoji> => {
  const found = new Map<string, ForeignEmoji>()
  for (const item of asList(document["tag"])) {
    const tag = asForeign(item)
    const shortcode = tag === undefined || typeOf(tag, "Emoji") === undefined ? undefined : shortcodeOf(tag["name"])
    const picture = foreignPicture(tag?.["icon"], readUrl)
    if (shortcode === undefined || picture === undefined || picture.url.length > emojiUrlCharactersMax) continue
    found.set(shortcode, { shortcode, url: picture.url, updatedMillis: momentOf(tag?.["updated"]) })
    if (found.size === emojisMax) break
  }
  return [...found.values()]
}
