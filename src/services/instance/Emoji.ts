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

/** Whether a text is one emoji of Unicode. Some clients leave the selector of its coloured form out. */
export const isUnicodeEmoji = (text: string): boolean =>
  text.length <= emojiUnitsMax && (unicodeEmoji.test(text) || unicodeEmoji.test(`${text}\uFE0F`))
