import {
  type Audience,
  controlled,
  type Interaction,
  policySaid,
  type StoredPolicy,
  type Verdict
} from "../../services/statuses/InteractionPolicy.ts"
import type { Verdicts } from "../../services/statuses/PolicyVerdicts.ts"
import type { Values } from "../wire/Keys.ts"
import type { InteractionPolicy } from "../wire/PolicyRules.ts"

const known = (who: Audience) => who !== "unsupported"

const rules = (stored: StoredPolicy, interaction: Interaction, verdict: Verdict | undefined) => {
  const { automatic, manual } = policySaid(stored, interaction) ?? { automatic: ["public" as const], manual: [] }
  // Its author always may, and whoever is named in a post may answer it.
  const always = automatic.includes("public")
    ? []
    : interaction === "canReply"
    ? ["author", "mentioned"]
    : ["author"]
  const said = (wanted: Verdict) => verdict === wanted ? ["me"] : []
  const automaticApproval = [...new Set([...automatic.filter(known), ...always]), ...said("automatic")]
  const manualApproval = [...manual.filter(known), ...said("manual")]
  return { automaticApproval, manualApproval, always: automaticApproval, withApproval: manualApproval }
}

/**
 * Who may do what with a post, in the words of clients; what a policy says nothing of is for everybody who may see the post.
 * Where it is said to somebody, `me` stands for them.
 */
export const policyValues = (stored: StoredPolicy, may?: Verdicts): Values<InteractionPolicy> => ({
  canFavourite: rules(stored, "canLike", may?.favourite),
  canReply: rules(stored, "canReply", may?.reply),
  canReblog: rules(stored, "canAnnounce", may?.reblog)
})

/** Whether a policy leaves anything of it to few. */
export const isControlled = (stored: StoredPolicy): boolean =>
  stored !== null && controlled.some((interaction) => policySaid(stored, interaction) !== undefined)
