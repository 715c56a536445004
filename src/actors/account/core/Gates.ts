import { Effect } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import { NotAllowed } from "../../../services/runtime/Errors.ts"
import { HeldStatuses } from "../../../services/statuses/HeldStatuses.ts"
import { isOpenToAll } from "../../../services/statuses/InteractionPolicy.ts"
import { interactionOf, type PolicyTarget, type RequestKind } from "../../../services/statuses/InteractionRequest.ts"
import { PolicyVerdicts } from "../../../services/statuses/PolicyVerdicts.ts"

/**
 * Result of an interaction policy: `free` needs no approval; `agreed` was approved in advance, which is recorded so
 * that other servers can verify it; `asks` waits for the author.
 */
export type Agreement = "free" | "agreed" | "asks"

/** Decision on a reply or reblog from another server; `claimed` is the approval it claims to have, not yet verified. */
export interface Consent {
  readonly agreement: Agreement
  readonly claimed?: string | undefined
}

const refusals: { readonly [Kind in RequestKind]: string } = {
  favourite: "The author of this post does not allow you to favourite it",
  reply: "The author of this post does not allow you to reply to it",
  reblog: "The author of this post does not allow you to boost it"
}
const waits = "This post is pending approval"

/**
 * Checks who may reply to, favourite and reblog statuses, by their authors' policies; inside the transaction of a
 * command.
 */
export const make = Effect.gen(function*() {
  const held = yield* HeldStatuses
  const verdicts = yield* PolicyVerdicts

  /**
   * Applies a status's policy to the account; fails with `NotAllowed` if it forbids the interaction. A status that is
   * open to everybody needs no query.
   */
  const checkPolicy = Effect.fnUntraced(
    function*(
      accountId: bigint,
      target: PolicyTarget,
      kind: RequestKind
    ): Effect.fn.Return<Agreement, NotAllowed | SqlError> {
      if (kind === "reply" && target.visibility === "direct" && (yield* held.isHeld(target.id))) {
        return yield* new NotAllowed({ text: waits })
      }
      if (target.accountId === accountId || isOpenToAll(target.interactionPolicy, interactionOf[kind])) return "free"
      const { local, mentioned, verdict } = yield* verdicts.of(accountId, target, kind)
      // Mentioned accounts may always reply, whatever the policy.
      if (kind === "reply" && mentioned) return "free"
      if (target.local && verdict === "automatic") return "agreed"
      const asks = target.local ? verdict === "manual" : local && verdict !== "denied"
      return asks ? "asks" : yield* new NotAllowed({ text: refusals[kind] })
    }
  )

  /** Fails unless the account may interact without waiting for approval. */
  const requireAutomatic = Effect.fnUntraced(function*(accountId: bigint, target: PolicyTarget, kind: RequestKind) {
    const agreement = yield* checkPolicy(accountId, target, kind)
    if (agreement === "asks") return yield* new NotAllowed({ text: refusals[kind] })
  })

  /** Like `checkPolicy`, but undefined if the account may not. */
  const agreed = (accountId: bigint, target: PolicyTarget, kind: RequestKind) =>
    Effect.catchTag(checkPolicy(accountId, target, kind), "NotAllowed", () => Effect.undefined)

  /**
   * Decides on a reply or reblog of a remote account; undefined if the author does not agree. An interaction with a
   * remote author's post may carry an approval, which that author's server has to confirm.
   */
  const consent = Effect.fnUntraced(
    function*(
      accountId: bigint,
      target: PolicyTarget,
      named: { readonly authorization: string | undefined },
      requested: boolean,
      kind: "reply" | "reblog" = "reply"
    ) {
      const agreement = yield* agreed(accountId, target, kind)
      // A requester always gets a reply, even if no approval is needed.
      if (agreement !== undefined) {
        return { agreement: agreement === "free" && requested ? "agreed" : agreement } satisfies Consent
      }
      if (target.local || named.authorization === undefined) return undefined
      const isOfAuthor = yield* verdicts.isAt(target.accountId, named.authorization)
      return isOfAuthor ? { agreement: "asks", claimed: named.authorization } satisfies Consent : undefined
    }
  )

  return { checkPolicy, agreed, consent, requireAutomatic }
})
