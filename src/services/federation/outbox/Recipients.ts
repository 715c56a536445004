import { Schema } from "effect"
import { isPublicOrUnlisted, Visibility } from "../../statuses/Visibility.ts"

/** Fields of a local account's post that determine its recipients. */
export const DeliveredPost = Schema.Struct({
  authorId: Schema.BigInt,
  visibility: Visibility,
  /** Mentioned accounts that the post is addressed to. */
  mentioned: Schema.Array(Schema.BigInt),
  /** Author of the parent; null if it is not a reply. */
  repliedTo: Schema.NullOr(Schema.BigInt),
  /** True if the post replies to a local account. */
  repliedToLocal: Schema.Boolean,
  /** Author of the quoted post; null without a quote. */
  quotedAuthor: Schema.NullOr(Schema.BigInt),
  /** Author of the reblogged status; null if it is not a reblog. */
  originalAuthor: Schema.NullOr(Schema.BigInt),
  /** True if its author reaches only followers. */
  silenced: Schema.Boolean
})
export type DeliveredPost = typeof DeliveredPost.Type

/** Recipients of an activity; only remote accounts count. */
export interface Recipients {
  /** All followers of these accounts. */
  readonly followersOf: ReadonlyArray<bigint>
  readonly accountIds: ReadonlyArray<bigint>
  /**
   * Servers that received the post. For an account's own news: servers that received any of its posts, or that host an
   * account it follows.
   */
  readonly reached: boolean
  /** Relays, which distribute public posts. */
  readonly relayed: boolean
  /** Accounts that interacted with the post. */
  readonly interacted: boolean
}

export type PostChange = "Create" | "Update" | "Delete"

/**
 * Returns the recipients of a post; this is the only place that decides them (row 67; federation.md section 10,
 * 'Reach'). A post for followers or mentioned accounts is sent to no others, even if it is a reply or was sent before.
 * Its deletion is sent to every server that received it.
 */
export const recipients = (change: PostChange, post: DeliveredPost): Recipients => {
  const { authorId, mentioned, originalAuthor, repliedTo, visibility } = post
  const open = isPublicOrUnlisted(visibility)
  if (change === "Delete") return { followersOf: [], accountIds: [], reached: true, relayed: false, interacted: open }
  const parentAuthors = open && repliedTo !== null ? [repliedTo] : []
  const quoted = open && post.quotedAuthor !== null ? [post.quotedAuthor] : []
  const concerned = originalAuthor === null ? [...mentioned, ...parentAuthors, ...quoted] : [originalAuthor]
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
