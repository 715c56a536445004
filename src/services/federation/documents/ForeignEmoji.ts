import { momentOf } from "../../Moments.ts"
import { foreignPicture } from "./ForeignMedia.ts"
import { asForeign, asList, type Foreign, type ReadUrl, typeOf } from "./Reading.ts"

/** Characters of a shortcode, and emoji of one document that are heeded (row 39). */
export const shortcodeCharactersMax = 128
const emojisMax = 100
/** Characters of the address of its picture: a page may show thousands. */
const emojiUrlCharactersMax = 512

/** An emoji of another server that a text of it names. */
export interface ForeignEmoji {
  readonly shortcode: string
  readonly url: string
  /** Milliseconds since 1970; undefined where its server does not say when it changed. */
  readonly updatedMillis: number | undefined
}

/** Names that texts can name, without their colons. */
const shortcodeOf = (name: unknown): string | undefined => {
  if (typeof name !== "string" || name.length > shortcodeCharactersMax + 2) return undefined
  const [, shortcode] = /^:?([a-zA-Z0-9_]{2,})(?::|$)$/.exec(name) ?? []
  return shortcode !== undefined && shortcode.length <= shortcodeCharactersMax ? shortcode : undefined
}

/** The emoji that a document brings for its own texts (federation.md section 9), each once. */
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
