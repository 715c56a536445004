/** Maximum UTF-16 units of a Unicode emoji; families and flags are the longest. */
const emojiUnitsMax = 64

/** A custom emoji, local or remote, as texts use it and clients get it. */
export interface Emoji {
  readonly id: bigint
  readonly shortcode: string
  readonly url: string
  readonly staticUrl: string
  readonly visibleInPicker: boolean
  readonly category: string | null
  /** Time of the last change of its picture; absent for remote emoji. */
  readonly updatedAt?: Date
}

const unicodeEmoji = /^\p{RGI_Emoji}$/v

/** Variation selector for the coloured form. Some clients omit it, others add it where it does not belong. */
const selector = "\uFE0F"

/** Returns the canonical spelling of a Unicode emoji; undefined for any other text. */
export const unicodeEmojiOf = (text: string): string | undefined =>
  text.length > emojiUnitsMax
    ? undefined
    : [text, text + selector, text.replaceAll(selector, "")].find((spelling) => unicodeEmoji.test(spelling))

/** Returns true if a text is a single Unicode emoji. */
export const isUnicodeEmoji = (text: string): boolean => unicodeEmojiOf(text) !== undefined
