import { Schema } from "effect"
import { isOpen, Visibility } from "../../statuses/Visibility.ts"

/** A local account's post as far as its recipients depend on it. */
export const DeliveredPost = Schema.Struct({
  authorId: Schema.BigInt,
  visibility: Visibility,
  /** Mentioned accounts that it is addressed to. */
  mentioned: Schema.Array(Schema.BigInt),
  /** The account that it answers; null where it is no reply. */
  repliedTo: Schema.NullOr(Schema.BigInt),
  /** It answers a local account. */
  repliedToLocal: Schema.Boolean,
  /** The author of what it quotes; null where it quotes nothing. */
  quotedAuthor: Schema.NullOr(Schema.BigInt),
  /** The author of the status that it reblogs; null where it is no reblog. */
  originalAuthor: Schema.NullOr(Schema.BigInt),
  /** Its author reaches followers only. */
  silenced: Schema.Boolean
})
export type DeliveredPost = typeof DeliveredPost.Type

/** Where an activity goes; remote accounts alone count. */
export interface Recipients {
  /** All followers of these accounts. */
  readonly followersOf: ReadonlyArray<bigint>
  readonly accountIds: ReadonlyArray<bigint>
  /** Servers that got the post before; for an account's news of itself, servers that had to do with it. */
  readonly reached: boolean
  /** Servers that hand on what everybody may read. */
  readonly relayed: boolean
  /** Who favourited, boosted and answered it. */
  readonly interacted: boolean
}

export type PostChange = "Create" | "Update" | "Delete"

/**
 * The recipients of a post, decided here only (row 67; federation.md section 10, 'Reach'). A post for followers or the
 * mentioned goes to nobody else, even where it answers somebody or was sent before; its deletion goes to all who had
 * it.
 */
export const recipients = (change: PostChange, post: DeliveredPost): Recipients => {
  const { authorId, mentioned, originalAuthor, repliedTo, visibility } = post
  const open = isOpen(visibility)
  if (change === "Delete") return { followersOf: [], accountIds: [], reached: true, relayed: false, interacted: open }
  const answered = open && repliedTo !== null ? [repliedTo] : []
  const quoted = open && post.quotedAuthor !== null ? [post.quotedAuthor] : []
  const concerned = originalAuthor === null ? [...mentioned, ...answered, ...quoted] : [originalAuthor]
  const theirs = open && originalAuthor === null && post.repliedToLocal && repliedTo !== null && repliedTo !== authorId
    ? [repliedTo]
    : []
  return {
    followersOf: visibility === "direct" ? [] : [authorId, ...theirs],
    accountIds: concerned,
    reached: open && change === "Update",
    relayed: visibility === "public" && originalAuthor === null && !post.silenced,
    interacted: open && change === "Update"
  }
}
