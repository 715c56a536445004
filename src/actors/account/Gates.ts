import { Effect } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import { NotAllowed } from "../../services/Errors.ts"
import { HeldStatuses } from "../../services/statuses/HeldStatuses.ts"
import { isFree } from "../../services/statuses/InteractionPolicy.ts"
import { interactionOf, type PolicyTarget, type RequestKind } from "../../services/statuses/InteractionRequest.ts"
import { PolicyVerdicts } from "../../services/statuses/PolicyVerdicts.ts"

/**
 * What a policy makes of a wish: nothing has to be said; its author agreed in advance, which is written down for others to
 * check; or it waits for the author.
 */
export type Agreement = "free" | "agreed" | "asks"

/** What becomes of a reply or reblog from another server; `claimed` is the consent that it says to have, which is not known yet. */
export interface Answer {
  readonly agreement: Agreement
  readonly claimed?: string | undefined
}

const refusals: { readonly [Kind in RequestKind]: string } = {
  favourite: "The author of this post does not allow you to favourite it",
  reply: "The author of this post does not allow you to reply to it",
  reblog: "The author of this post does not allow you to boost it"
}
const waits = "This post is pending approval"

/** Who may reply to, favourite and reblog statuses, as their authors say; inside the transaction of a command. */
export const make = Effect.gen(function*() {
  const held = yield* HeldStatuses
  const verdicts = yield* PolicyVerdicts

  /** What the policy of a status says to the account; fails where that may not. A post for everybody costs no question. */
  const gate = Effect.fnUntraced(
    function*(
      accountId: bigint,
      target: PolicyTarget,
      kind: RequestKind
    ): Effect.fn.Return<Agreement, NotAllowed | SqlError> {
      if (kind === "reply" && target.visibility === "direct" && (yield* held.isHeld(target.id))) {
        return yield* new NotAllowed({ text: waits })
      }
      if (target.accountId === accountId || isFree(target.interactionPolicy, interactionOf[kind])) return "free"
      const { local, mentioned, verdict } = yield* verdicts.of(accountId, target, kind)
      // Whom a status names may always answer it, whatever its policy says.
      if (kind === "reply" && mentioned) return "free"
      if (target.local && verdict === "automatic") return "agreed"
      const asks = target.local ? verdict === "manual" : local && verdict !== "denied"
      return asks ? "asks" : yield* new NotAllowed({ text: refusals[kind] })
    }
  )

  /** Fails where the account may not, or not at once. */
  const atOnce = Effect.fnUntraced(function*(accountId: bigint, target: PolicyTarget, kind: RequestKind) {
    const agreement = yield* gate(accountId, target, kind)
    if (agreement === "asks") return yield* new NotAllowed({ text: refusals[kind] })
  })

  /** The same as `gate`; undefined where the account may not. */
  const agreed = (accountId: bigint, target: PolicyTarget, kind: RequestKind) =>
    Effect.catchTag(gate(accountId, target, kind), "NotAllowed", () => Effect.undefined)

  /**
   * What becomes of a reply or reblog of an account of another server; undefined where its author does not agree. One of what is
   * of another server, too, may have the consent of its author, which that server has to show.
   */
  const answer = Effect.fnUntraced(
    function*(
      accountId: bigint,
      target: PolicyTarget,
      named: { readonly authorization: string | undefined },
      requested: boolean,
      kind: "reply" | "reblog" = "reply"
    ) {
      const agreement = yield* agreed(accountId, target, kind)
      // Who asks is told, whatever everybody may.
      if (agreement !== undefined) {
        return { agreement: agreement === "free" && requested ? "agreed" : agreement } satisfies Answer
      }
      if (target.local || named.authorization === undefined) return undefined
      const isOfAuthor = yield* verdicts.isAt(target.accountId, named.authorization)
      return isOfAuthor ? { agreement: "asks", claimed: named.authorization } satisfies Answer : undefined
    }
  )

  return { gate, agreed, answer, atOnce }
})
