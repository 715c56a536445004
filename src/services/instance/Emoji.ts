/** UTF-16 code units of an emoji of Unicode; families and flags take the most. */
const emojiUnitsMax = 64

/** A custom emoji, of this server or of another, as texts name it and clients get it. */
export interface Emoji {
  readonly id: bigint
  readonly shortcode: string
  readonly url: string
  readonly staticUrl: string
  readonly visibleInPicker: boolean
  readonly category: string | null
  /** When its picture became what it is; absent for those of other servers. */
  readonly updatedAt?: Date
}

const unicodeEmoji = /^\p{RGI_Emoji}$/v

/** The selector of an emoji's coloured form, which some clients leave out and some add where it belongs to none. */
const selector = "\uFE0F"

/** The one spelling of an emoji of Unicode; undefined for any other text. */
export const unicodeEmojiOf = (text: string): string | undefined =>
  text.length > emojiUnitsMax
    ? undefined
    : [text, text + selector, text.replaceAll(selector, "")].find((spelling) => unicodeEmoji.test(spelling))

/** Whether a text is one emoji of Unicode. */
export const isUnicodeEmoji = (text: string): boolean => unicodeEmojiOf(text) !== undefined
