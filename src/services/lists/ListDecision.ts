import type { Severity } from "../federation/domains/DomainPolicy.ts"
import type { ListAction } from "./ListEntry.ts"

/** Staff settings of a list. */
interface ListRules {
  readonly id: bigint
  readonly applyAutomatically: boolean
  readonly retractAutomatically: boolean
  readonly preserveRelationships: boolean
  readonly overrideUnattributed: boolean
}

/** State of a domain for a list. */
interface DomainFacts {
  /** The list of the highest priority that names the domain, and its action; undefined if none does. */
  readonly winner: { readonly listId: bigint; readonly action: ListAction } | undefined
  /** Current rule: a block, or an allow in limited federation; `listId` is null if staff made it. */
  readonly currentRule: { readonly severity: Severity | "allow"; readonly listId: bigint | null } | undefined
  /** True if a local account follows an account of the domain. */
  readonly followed: boolean
}

/**
 * Effect of a list on a domain: create or change its rule, move the rule to another list, lift it, or suggest an action
 * to staff.
 */
type Decision =
  | { readonly type: "nothing" }
  | { readonly type: "put"; readonly action: ListAction }
  | { readonly type: "move"; readonly to: bigint; readonly action: ListAction }
  | { readonly type: "lift" }
  | { readonly type: "suggest"; readonly action: ListAction | "retract" }

export const severityOf = (action: ListAction): Severity | "allow" =>
  action === "accept" ? "allow" : action === "limit" ? "silence" : "suspend"

const nothing: Decision = { type: "nothing" }

/**
 * Decides by the same rules for all lists: the list of the highest priority counts, rules of staff and of other lists
 * are not overruled, and no local follow is ended automatically unless staff allow that.
 */
export const decide = (list: ListRules, { followed, currentRule, winner }: DomainFacts): Decision => {
  const own = currentRule?.listId === list.id
  if (winner === undefined) {
    if (!own) return nothing
    return list.retractAutomatically ? { type: "lift" } : { type: "suggest", action: "retract" }
  }
  if (winner.listId !== list.id) return own ? { type: "move", to: winner.listId, action: winner.action } : nothing
  const { action } = winner
  const same = currentRule?.severity === severityOf(action)
  const severs = action === "reject" && currentRule?.severity !== "suspend"
  const mayApply = list.applyAutomatically && !(severs && list.preserveRelationships && followed)
  if (currentRule === undefined || own) {
    return same ? nothing : mayApply ? { type: "put", action } : { type: "suggest", action }
  }
  if (currentRule.listId === null) {
    if (!list.overrideUnattributed) return nothing
    return mayApply ? { type: "put", action } : same ? nothing : { type: "suggest", action }
  }
  return same ? nothing : { type: "suggest", action }
}
