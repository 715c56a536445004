import { decide, type Standing, type StoredPolicy, type SubPolicy, type Verdict } from "./InteractionPolicy.ts"
import type { Verdicts } from "./PolicyVerdicts.ts"
import type { Reaction } from "./ReactionEmoji.ts"
import type { StoredStatus } from "./StoredStatus.ts"

/**
 * The part of a status that changes with an edit at most, and may come from a cache: its author, visibility and
 * original.
 */
export interface StatusKey
  extends Pick<StoredStatus, "id" | "accountId" | "visibility" | "conversationId" | "local" | "localOnly">
{
  /** It has a poll. */
  readonly poll: boolean
  /** Its policy, where that leaves replies, favourites or reblogs to few. */
  readonly control?: StoredPolicy
  /** Who may quote it. */
  readonly quoting: SubPolicy
  /** The original, where the status is a reblog. */
  readonly original: StatusKey | undefined
}

/** How a status stands now, by itself and for one viewer (nothing is set for nobody); of a reblog, its original. */
export interface ViewerState {
  readonly repliesCount: number
  readonly reblogsCount: number
  readonly favouritesCount: number
  readonly quotesCount: number
  readonly favourited: boolean
  readonly reblogged: boolean
  readonly bookmarked: boolean
  /** Its conversation is muted. */
  readonly muted: boolean
  readonly pinned: boolean
  /** Options of its poll that the viewer voted for. */
  readonly votes: ReadonlyArray<number>
  /** Whether the viewer may quote it. */
  readonly quoting: Verdict
  /** What the viewer may do with it; absent where everybody may do all. */
  readonly may?: Verdicts
  /** The emoji with which people react to it. */
  readonly reactions: ReadonlyArray<Reaction>
}

/** Whether a viewer may quote a status; nobody in particular may not. */
export const quotingOf = (
  viewer: bigint | undefined,
  { accountId, original, quoting }: StatusKey,
  follows: Pick<Standing, "follows" | "followed">
): Verdict =>
  viewer === undefined || original !== undefined
    ? "denied"
    : decide(quoting, { ...follows, isAuthor: viewer === accountId, mentioned: false })

const nobody: ReadonlyArray<never> = []

/** How a status stands for its author who has just begun a thread with it; undefined where its policy has to be asked. */
export const newState = (status: StatusKey): ViewerState | undefined =>
  status.control === undefined
    ? {
      repliesCount: 0,
      reblogsCount: 0,
      favouritesCount: 0,
      quotesCount: 0,
      favourited: false,
      reblogged: false,
      bookmarked: false,
      muted: false,
      pinned: false,
      votes: nobody,
      quoting: quotingOf(status.accountId, status, { follows: false, followed: false }),
      reactions: nobody
    }
    : undefined

/** How a status that is quoted stands to a viewer, in the words of clients. */
type QuotedStanding =
  | "accepted"
  | "deleted"
  | "unauthorized"
  | "blocked_account"
  | "blocked_domain"
  | "muted_account"

/** The same, with its state where the viewer may read it. */
export interface QuotedState {
  readonly standing: QuotedStanding
  readonly state: ViewerState | undefined
}

/**
 * What a list leaves out beside statuses that the viewer may not see: `authors` leaves out those by, or reblogged from,
 * accounts that the viewer hides. `permitted` statuses were just selected with `visibleTo` for the same viewer, and are
 * not checked again.
 */
export type Hiding = "nothing" | "authors" | "permitted"

/** Accounts of which one hides the other, by how. */
interface Hidden {
  readonly blocked: ReadonlySet<bigint>
  readonly domain: ReadonlySet<bigint>
  readonly muted: ReadonlySet<bigint>
}

/** How a status that somebody may read stands to them, where its author, or they, are among the hidden. */
export const standingOf = (account: bigint, { blocked, domain, muted }: Hidden): QuotedStanding =>
  blocked.has(account)
    ? "blocked_account"
    : domain.has(account)
    ? "blocked_domain"
    : muted.has(account)
    ? "muted_account"
    : "accepted"
