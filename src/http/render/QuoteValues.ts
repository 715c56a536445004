import { type PolicyEntry, policyOf, type PolicySubject } from "../../services/statuses/InteractionPolicy.ts"
import type { QuoteRecord } from "../../services/statuses/Statuses.ts"
import type { StatusKey } from "../../services/statuses/ViewerState.ts"
import type { QuoteApproval } from "../wire/Status.ts"
import { openApproval } from "../wire/StatusJson.ts"

/** A status's quote as it is cached. */
export interface PreparedQuote {
  readonly state: QuoteRecord["state"]
  /** The quoted status; undefined if it is not stored here. */
  readonly key: StatusKey | undefined
}

/**
 * Returns the quote of a status. One from a server without approvals is only shown if accepted: its text has a link.
 */
export const prepareQuote = (record: QuoteRecord | null): PreparedQuote | undefined => {
  if (record === null || (record.legacy && record.state !== "accepted")) return undefined
  const { state, status } = record
  return {
    state,
    key: status === null ? undefined : {
      id: BigInt(status.id),
      accountId: BigInt(status.accountId),
      visibility: status.visibility,
      local: status.local,
      localOnly: status.localOnly,
      conversationId: BigInt(status.id),
      poll: false,
      quoting: { automatic: [], manual: [] },
      original: undefined
    }
  }
}

const wordOf = (who: PolicyEntry): QuoteApproval["automatic"][number] =>
  who === "public" || who === "followers" || who === "following" ? who : "unsupported_policy"
const wordsOf = (audiences: ReadonlyArray<PolicyEntry>) => [...new Set(audiences.map(wordOf))]

const approvals = new Map<string, string>()

/**
 * Returns who may quote a status, with a placeholder for the viewer; statuses with the same policy share one string.
 */
export const approvalOf = (status: PolicySubject): string => {
  const { automatic, manual } = policyOf(status, "canQuote")
  const text = openApproval({ automatic: wordsOf(automatic), manual: wordsOf(manual) })
  const known = approvals.get(text)
  if (known !== undefined) return known
  // Bounded, although there are few policies and each is stored at most once.
  if (approvals.size < approvalsMax) approvals.set(text, text)
  return text
}

/** Maximum cached texts. */
const approvalsMax = 256
