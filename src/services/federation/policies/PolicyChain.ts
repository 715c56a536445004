import type { Foreign } from "../documents/ForeignValues.ts"
import { mentions, reactions } from "./BlockPolicies.ts"
import { files } from "./FilePolicies.ts"
import type { ActivityFacts, InboundPolicy } from "./InboundPolicy.ts"
import { domain, reports, suspension } from "./SenderPolicies.ts"

/** Result of all policies: the activity, possibly changed, with reasons; or the reason for dropping it. */
export type Judgement =
  | { readonly passes: true; readonly activity: Foreign; readonly changes: ReadonlyArray<string> }
  | { readonly passes: false; readonly reason: string }

/**
 * All policies for incoming activities, in order: those about the sender precede those about content. Policies about
 * text come last.
 */
export const chain: ReadonlyArray<InboundPolicy> = [domain, suspension, reports, reactions, files, mentions]

/** Applies all policies in order; each sees the changes of those before it. */
export const judge = (
  activity: Foreign,
  facts: ActivityFacts,
  rules: ReadonlyArray<InboundPolicy> = chain
): Judgement => {
  let passing = activity
  const changes: Array<string> = []
  for (const policy of rules) {
    const verdict = policy(passing, facts)
    if (verdict.verdict === "drop") return { passes: false, reason: verdict.reason }
    if (verdict.verdict === "accept") continue
    passing = verdict.activity
    changes.push(verdict.reason)
  }
  return { passes: true, activity: passing, changes }
}
