import { type Audience, type Governed, policyOf } from "../../services/statuses/InteractionPolicy.ts"
import type { QuoteRecord } from "../../services/statuses/Statuses.ts"
import type { StatusKey } from "../../services/statuses/ViewerState.ts"
import type { QuoteApproval } from "../wire/Status.ts"
import { openApproval } from "../wire/StatusJson.ts"

/** What a status quotes, as it is kept ready. */
export interface ReadyQuote {
  readonly state: QuoteRecord["state"]
  /** What is quoted; undefined where it is not here. */
  readonly key: StatusKey | undefined
}

/** Without consent nothing is shown of a quote whose author's server knows none: its text has a link. */
export const readyQuote = (record: QuoteRecord | null): ReadyQuote | undefined => {
  if (record === null || (record.legacy && record.state !== "accepted")) return undefined
  const { state, status } = record
  return {
    state,
    key: status === null ? undefined : {
      id: BigInt(status.id),
      accountId: BigInt(status.accountId),
      visibility: status.visibility,
      local: status.local,
      conversationId: BigInt(status.id),
      poll: false,
      quoting: { automatic: [], manual: [] },
      original: undefined
    }
  }
}

const wordOf = (who: Audience): QuoteApproval["automatic"][number] =>
  who === "public" || who === "followers" || who === "following" ? who : "unsupported_policy"
const wordsOf = (audiences: ReadonlyArray<Audience>) => [...new Set(audiences.map(wordOf))]

const approvals = new Map<string, string>()

/** Who may quote a status, left open for what it says to its reader; one text for all that say the same. */
export const approvalOf = (status: Governed): string => {
  const { automatic, manual } = policyOf(status, "canQuote")
  const text = openApproval({ automatic: wordsOf(automatic), manual: wordsOf(manual) })
  const known = approvals.get(text)
  if (known !== undefined) return known
  // Bounded: the words are few, and each stands once at most.
  if (approvals.size < approvalsMax) approvals.set(text, text)
  return text
}

/** Texts that are kept. */
const approvalsMax = 256
