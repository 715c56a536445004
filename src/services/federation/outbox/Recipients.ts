import { isOpen, type Visibility } from "../../statuses/Visibility.ts"

/** Facts of a local account's post that its recipients depend on. */
export interface PostFacts {
  readonly authorId: bigint
  readonly visibility: Visibility
  /** Mentioned accounts that it is addressed to. */
  readonly mentioned: ReadonlyArray<bigint>
  /** The account that it answers; null where it is no reply. */
  readonly repliedTo: bigint | null
  /** It answers a local account. */
  readonly repliedToLocal: boolean
  /** The author of the status that it reblogs; null where it is no reblog. */
  readonly originalAuthor: bigint | null
}

/** Where an activity goes; remote accounts alone count. */
export interface Recipients {
  /** All followers of these accounts. */
  readonly followersOf: ReadonlyArray<bigint>
  readonly accountIds: ReadonlyArray<bigint>
  /** Servers that got the post before; for an account's news of itself, servers that had to do with it. */
  readonly reached: boolean
  /** Who favourited, boosted and answered it. */
  readonly interacted: boolean
}

export type PostChange = "Create" | "Update" | "Delete"

/**
 * The recipients of a post, decided here only (row 67; federation.md section 10, 'Reach'). A post for followers or for
 * the mentioned goes to nobody else, even where it answers somebody or was sent before; its deletion goes to all who
 * had it.
 */
export const recipients = (change: PostChange, post: PostFacts): Recipients => {
  const { authorId, mentioned, originalAuthor, repliedTo, visibility } = post
  const open = isOpen(visibility)
  if (change === "Delete") return { followersOf: [], accountIds: [], reached: true, interacted: open }
  const answered = open && repliedTo !== null ? [repliedTo] : []
  const concerned = originalAuthor === null ? [...mentioned, ...answered] : [originalAuthor]
  const theirs = open && originalAuthor === null && post.repliedToLocal && repliedTo !== null && repliedTo !== authorId
    ? [repliedTo]
    : []
  return {
    followersOf: visibility === "direct" ? [] : [authorId, ...theirs],
    accountIds: concerned,
    reached: open && change === "Update",
    interacted: open && change === "Update"
  }
}
