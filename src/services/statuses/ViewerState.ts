import type { Visibility } from "./Visibility.ts"

/** What of a status changes with an edit at most, and therefore may come from a cache: whose it is, for whom, and what it repeats. */
export interface StatusKey {
  readonly id: bigint
  readonly accountId: bigint
  readonly visibility: Visibility
  readonly conversationId: bigint
  readonly local: boolean
  /** It has a poll. */
  readonly poll: boolean
  /** The original, where the status is a reblog. */
  readonly original: StatusKey | undefined
}

/** How a status stands now, by itself and for one viewer (nothing is set for nobody); of a reblog, its original. */
export interface ViewerState {
  readonly repliesCount: number
  readonly reblogsCount: number
  readonly favouritesCount: number
  readonly favourited: boolean
  readonly reblogged: boolean
  readonly bookmarked: boolean
  /** Its conversation is muted. */
  readonly muted: boolean
  readonly pinned: boolean
  /** Options of its poll that the viewer voted for. */
  readonly votes: ReadonlyArray<number>
}

/**
 * Whom a list leaves out beside what nobody may see: `authors` that the viewer hides, as author or reblogged author.
 * `permitted` statuses were just selected with `visibleTo` for the very viewer, and are not asked about a second time.
 */
export type Hiding = "nothing" | "authors" | "permitted"
