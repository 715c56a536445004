import type { Foreign } from "../documents/Reading.ts"
import type { DomainPolicy } from "../domains/DomainPolicy.ts"

/** Facts of an activity and its sender, before it has any effect. */
export interface ActivityFacts {
  /** What the operator's rules say of the sender's domains. */
  readonly policy: DomainPolicy
  /** The sender is suspended here or says so itself. */
  readonly suspended: boolean
  /**
   * Ids, as the activity writes them, of accounts that a block separates from the sender, in either direction and by
   * domain, and of posts by such accounts (`isSeparate`).
   */
  readonly separated: ReadonlySet<string>
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
/** Accepts an activity that a rule left as it is, and a changed one with the reason. */
export const change = (before: Foreign, activity: Foreign, reason: string): Verdict =>
  activity === before ? accept : { verdict: "change", activity, reason }
