import type { Visibility } from "../../statuses/StatusWriter.ts"

/** Who a post of a local account concerns, as far as its recipients depend on it. */
export interface PostFacts {
  readonly authorId: bigint
  readonly visibility: Visibility
  /** The mentioned whom it is addressed to. */
  readonly mentioned: ReadonlyArray<bigint>
  /** Whom it answers; null where it is no reply. */
  readonly repliedTo: bigint | null
  /** Whoever is answered is one of ours. */
  readonly repliedToLocal: boolean
  /** Who wrote what it reblogs; null where it is no reblog. */
  readonly originalAuthor: bigint | null
}

/** Where an activity goes; remote accounts alone count. */
export interface Recipients {
  /** All followers of these accounts. */
  readonly followersOf: ReadonlyArray<bigint>
  readonly accountIds: ReadonlyArray<bigint>
  /** Whoever got the post before; of what an account tells of itself, whoever had to do with it. */
  readonly reached: boolean
  /** Who favourited, boosted and answered it. */
  readonly interacted: boolean
}

export type PostChange = "Create" | "Update" | "Delete"

/**
 * The recipients of a post, decided here only (row 67; federation.md section 10, 'Reach'). What is for followers or for the
 * mentioned goes to nobody else, whoever is answered and whoever had it before; that it is gone may be known by all who had it.
 */
export const recipients = (change: PostChange, post: PostFacts): Recipients => {
  const { authorId, mentioned, originalAuthor, repliedTo, visibility } = post
  const open = visibility === "public" || visibility === "unlisted"
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
