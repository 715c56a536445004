import type { StoredStatus } from "./StoredStatus.ts"

/**
 * The part of a status that changes with an edit at most, and may come from a cache: its author, visibility and
 * original.
 */
export interface StatusKey extends Pick<StoredStatus, "id" | "accountId" | "visibility" | "conversationId" | "local"> {
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
 * What a list leaves out beside statuses that the viewer may not see: `authors` leaves out those by, or reblogged from,
 * accounts that the viewer hides. `permitted` statuses were just selected with `visibleTo` for the same viewer, and are
 * not checked again.
 */
export type Hiding = "nothing" | "authors" | "permitted"
