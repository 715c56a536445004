import {
  controlled,
  type Interaction,
  type PolicyEntry,
  type StoredPolicy,
  subPolicyOf,
  type Verdict
} from "../../services/statuses/InteractionPolicy.ts"
import type { Verdicts } from "../../services/statuses/PolicyVerdicts.ts"
import type { Values } from "../wire/Keys.ts"
import type { InteractionPolicy } from "../wire/PolicyRules.ts"

const known = (who: PolicyEntry) => who !== "unsupported"

const rules = (stored: StoredPolicy, interaction: Interaction, verdict: Verdict | undefined) => {
  const { automatic, manual } = subPolicyOf(stored, interaction) ?? { automatic: ["public" as const], manual: [] }
  // The author always may, and mentioned accounts may always reply.
  const always = automatic.includes("public")
    ? []
    : interaction === "canReply"
    ? ["author", "mentioned"]
    : ["author"]
  const viewerIf = (wanted: Verdict) => verdict === wanted ? ["me"] : []
  const automaticApproval = [...new Set([...automatic.filter(known), ...always]), ...viewerIf("automatic")]
  const manualApproval = [...manual.filter(known), ...viewerIf("manual")]
  return { automaticApproval, manualApproval, always: automaticApproval, withApproval: manualApproval }
}

/**
 * Returns a post's interaction policy for the API; interactions that the policy does not mention are open to everyone
 * who may see the post. For a viewer, `me` stands for that viewer.
 */
export const policyValues = (stored: StoredPolicy, may?: Verdicts): Values<InteractionPolicy> => ({
  canFavourite: rules(stored, "canLike", may?.favourite),
  canReply: rules(stored, "canReply", may?.reply),
  canReblog: rules(stored, "canAnnounce", may?.reblog)
})

/** Returns true if a policy restricts any interaction. */
export const isControlled = (stored: StoredPolicy): boolean =>
  stored !== null && controlled.some((interaction) => subPolicyOf(stored, interaction) !== undefined)
