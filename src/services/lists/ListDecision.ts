import type { Severity } from "../federation/domains/DomainPolicy.ts"
import type { ListAction } from "./ListEntry.ts"

/** How staff want a list to be followed. */
interface ListRules {
  readonly id: bigint
  readonly applyAutomatically: boolean
  readonly retractAutomatically: boolean
  readonly preserveRelationships: boolean
  readonly overrideUnattributed: boolean
}

/** A domain as a list finds it. */
interface DomainFacts {
  /** The list of the highest priority that names it, and what that says; undefined where none does. */
  readonly winner: { readonly listId: bigint; readonly action: ListAction } | undefined
  /** What stands: a block, or an allow in limited federation; `listId` is null where staff made it. */
  readonly standing: { readonly severity: Severity | "allow"; readonly listId: bigint | null } | undefined
  /** Somebody here follows somebody there. */
  readonly followed: boolean
}

/** What a list does about a domain: puts a rule there or changes it, hands it to another list, lifts it, or asks staff. */
type Decision =
  | { readonly does: "nothing" }
  | { readonly does: "put"; readonly action: ListAction }
  | { readonly does: "move"; readonly to: bigint; readonly action: ListAction }
  | { readonly does: "lift" }
  | { readonly does: "suggest"; readonly action: ListAction | "retract" }

export const severityOf = (action: ListAction): Severity | "allow" =>
  action === "accept" ? "allow" : action === "limit" ? "silence" : "suspend"

const nothing: Decision = { does: "nothing" }

/**
 * One rule for all lists: the list of the highest priority speaks, staff and other lists are not overruled, and no follow of
 * anybody here ends by itself unless staff want that.
 */
export const decide = (list: ListRules, { followed, standing, winner }: DomainFacts): Decision => {
  const own = standing?.listId === list.id
  if (winner === undefined) {
    if (!own) return nothing
    return list.retractAutomatically ? { does: "lift" } : { does: "suggest", action: "retract" }
  }
  if (winner.listId !== list.id) return own ? { does: "move", to: winner.listId, action: winner.action } : nothing
  const { action } = winner
  const same = standing?.severity === severityOf(action)
  const severs = action === "reject" && standing?.severity !== "suspend"
  const mayApply = list.applyAutomatically && !(severs && list.preserveRelationships && followed)
  if (standing === undefined || own) {
    return same ? nothing : mayApply ? { does: "put", action } : { does: "suggest", action }
  }
  if (standing.listId === null) {
    if (!list.overrideUnattributed) return nothing
    return mayApply ? { does: "put", action } : same ? nothing : { does: "suggest", action }
  }
  return same ? nothing : { does: "suggest", action }
}
