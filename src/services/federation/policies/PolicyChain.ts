import type { Foreign } from "../documents/Reading.ts"
import { mentions, reactions } from "./BlockPolicies.ts"
import { files } from "./FilePolicies.ts"
import type { ActivityFacts, InboundPolicy } from "./InboundPolicy.ts"
import { domain, reports, suspension } from "./SenderPolicies.ts"

/** What became of an activity: as it goes on, with why it was changed, or why it does not. */
export type Judgement =
  | { readonly passes: true; readonly activity: Foreign; readonly changes: ReadonlyArray<string> }
  | { readonly passes: false; readonly reason: string }

/** Every rule about incoming activities, in their order: who sends comes before what is sent. Rules about words go last. */
export const chain: ReadonlyArray<InboundPolicy> = [domain, suspension, reports, reactions, files, mentions]

/** Has an activity judged by all rules, each of which sees what those before it left. */
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
