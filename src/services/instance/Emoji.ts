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
