import {
  type Audience,
  controlled,
  type Interaction,
  policySaid,
  type StoredPolicy
} from "../../services/statuses/InteractionPolicy.ts"
import type { Values } from "../wire/Keys.ts"
import type { InteractionPolicy } from "../wire/PolicyRules.ts"

const known = (who: Audience) => who !== "unsupported"

const rules = (stored: StoredPolicy, interaction: Interaction) => {
  const { automatic, manual } = policySaid(stored, interaction) ?? { automatic: ["public" as const], manual: [] }
  // Its author always may, and whoever is named in a post may answer it.
  const always = automatic.includes("public")
    ? []
    : interaction === "canReply"
    ? ["author", "mentioned"]
    : ["author"]
  const automaticApproval = [...new Set([...automatic.filter(known), ...always])]
  const manualApproval = manual.filter(known)
  return { automaticApproval, manualApproval, always: automaticApproval, withApproval: manualApproval }
}

/** Who may do what with a post, in the words of clients; what a policy says nothing of is for everybody who may see the post. */
export const policyValues = (stored: StoredPolicy): Values<InteractionPolicy> => ({
  canFavourite: rules(stored, "canLike"),
  canReply: rules(stored, "canReply"),
  canReblog: rules(stored, "canAnnounce")
})

/** Whether a policy leaves anything of it to few. */
export const isControlled = (stored: StoredPolicy): boolean =>
  stored !== null && controlled.some((interaction) => policySaid(stored, interaction) !== undefined)
