import type { Foreign } from "../documents/Reading.ts"
import type { DomainPolicy } from "../domains/DomainPolicy.ts"

/** Facts of an activity and its sender, before it has any effect. */
export interface ActivityFacts {
  /** What the operator's rules say of the sender's domains. */
  readonly policy: DomainPolicy
  /** The sender is suspended here or says so itself. */
  readonly suspended: boolean
  /**
   * Accounts that the activity names, by the ids it names them by, that block the sender or its domain, or whom it
   * blocks.
   */
  readonly blockers: ReadonlySet<string>
  /** The author of the local post that the activity is about blocks the sender. */
  readonly blockedByAuthor: boolean
}

/** `reason` in words, for the operator. */
type Verdict =
  | { readonly verdict: "accept" }
  | { readonly verdict: "change"; readonly activity: Foreign; readonly reason: string }
  | { readonly verdict: "drop"; readonly reason: string }

/** One rule about incoming activities, pure: whether this one passes, passes otherwise, or not at all. */
export type InboundPolicy = (activity: Foreign, facts: ActivityFacts) => Verdict

export const accept: Verdict = { verdict: "accept" }
export const drop = (reason: string): Verdict => ({ verdict: "drop", reason })
export const change = (activity: Foreign, reason: string): Verdict => ({ verdict: "change", activity, reason })
