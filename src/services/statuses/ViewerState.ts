import { decide, type PolicyRelation, type StoredPolicy, type SubPolicy, type Verdict } from "./InteractionPolicy.ts"
import type { Verdicts } from "./PolicyVerdicts.ts"
import type { Reaction } from "./ReactionEmoji.ts"
import type { StoredStatus } from "./StoredStatus.ts"

/** Cacheable part of a status, which changes only with an edit: author, visibility and original. */
export interface StatusKey
  extends Pick<StoredStatus, "id" | "accountId" | "visibility" | "conversationId" | "local" | "localOnly">
{
  /** True if the status has a poll. */
  readonly poll: boolean
  /** Interaction policy, if it restricts replies, favourites or boosts. */
  readonly control?: StoredPolicy
  /** Quote policy. */
  readonly quoting: SubPolicy
  /** Original of a boost. */
  readonly original: StatusKey | undefined
}

/** Current state of a status, or of a boost's original: counters, and one viewer's marks (unset if signed out). */
export interface ViewerState {
  readonly repliesCount: number
  readonly reblogsCount: number
  readonly favouritesCount: number
  readonly quotesCount: number
  readonly favourited: boolean
  readonly reblogged: boolean
  readonly bookmarked: boolean
  /** The conversation is muted. */
  readonly muted: boolean
  readonly pinned: boolean
  /** Poll options that the viewer voted for. */
  readonly votes: ReadonlyArray<number>
  /** Verdict of the quote policy on the viewer. */
  readonly quoting: Verdict
  /** Verdicts on the viewer; absent without restrictions. */
  readonly may?: Verdicts
  /** Emoji reactions. */
  readonly reactions: ReadonlyArray<Reaction>
}

/** Returns the verdict of the quote policy; denied for signed-out viewers and for boosts. */
export const quotingOf = (
  viewer: bigint | undefined,
  { accountId, original, quoting }: StatusKey,
  follows: Pick<PolicyRelation, "follows" | "followed">
): Verdict =>
  viewer === undefined || original !== undefined
    ? "denied"
    : decide(quoting, { ...follows, isAuthor: viewer === accountId, mentioned: false })

const nobody: ReadonlyArray<never> = []

/** Returns the state of a new thread's first status for its author; undefined if its policy must be checked. */
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

/** Availability of a quoted status for a viewer, as in the API. */
type QuoteAvailability =
  | "accepted"
  | "deleted"
  | "unauthorized"
  | "blocked_account"
  | "blocked_domain"
  | "muted_account"

/** Availability, with the state if the viewer may see the status. */
export interface QuotedState {
  readonly availability: QuoteAvailability
  readonly state: ViewerState | undefined
}

/**
 * Filter of a list, applied after permissions: `authors` omits statuses by, or boosted from, accounts that the viewer hides.
 * `permitted` statuses were just selected with `visibleTo` for the same viewer, and are not checked again.
 */
export type Hiding = "nothing" | "authors" | "permitted"

/** Accounts that hide, or are hidden, by reason. */
interface Hidden {
  readonly blocked: ReadonlySet<bigint>
  readonly domain: ReadonlySet<bigint>
  readonly muted: ReadonlySet<bigint>
}

/** Returns the availability of a readable status, by the hidden accounts. */
export const availabilityOf = (account: bigint, { blocked, domain, muted }: Hidden): QuoteAvailability =>
  blocked.has(account)
    ? "blocked_account"
    : domain.has(account)
    ? "blocked_domain"
    : muted.has(account)
    ? "muted_account"
    : "accepted"
