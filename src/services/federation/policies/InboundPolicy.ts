import type { Foreign } from "../documents/ForeignValues.ts"
import type { DomainPolicy } from "../domains/DomainPolicy.ts"

/** Facts of an activity and its sender, before it has any effect. */
export interface ActivityFacts {
  /** The operator's rules for the sender's domains. */
  readonly policy: DomainPolicy
  /** True if the sender is suspended here or says so itself. */
  readonly suspended: boolean
  /**
   * Ids, as the activity writes them, of accounts that a block separates from the sender, in either direction and by
   * domain, and of posts by these accounts (`isSeparate`).
   */
  readonly separated: ReadonlySet<string>
}

/** `reason` is a text for the operator. */
type Verdict =
  | { readonly verdict: "accept" }
  | { readonly verdict: "change"; readonly activity: Foreign; readonly reason: string }
  | { readonly verdict: "drop"; readonly reason: string }

/** A pure rule about incoming activities: accepts, changes or drops one. */
export type InboundPolicy = (activity: Foreign, facts: ActivityFacts) => Verdict

export const accept: Verdict = { verdict: "accept" }
export const drop = (reason: string): Verdict => ({ verdict: "drop", reason })
/** Accepts an unchanged activity, and passes on a changed one with the reason. */
export const change = (before: Foreign, activity: Foreign, reason: string): Verdict =>
  activity === before ? accept : { verdict: "change", activity, reason }
