import { Effect } from "effect"
import type { Messages } from "../../../services/languages/Messages.ts"
import { type Unprocessable, validationFailed } from "../../../services/runtime/Errors.ts"
import type { controlled } from "../../../services/statuses/InteractionPolicy.ts"
import { singlesMax, type StoredPolicy, subPolicyOf, withPolicy } from "../../../services/statuses/InteractionPolicy.ts"
import { type Html, html } from "../../html/Html.ts"
import { policyEntriesOf } from "../../v1/PolicyPayloads.ts"
import { checkBox, choice } from "../settings/FormFields.ts"

/* The choice of who may reply to a post, favourite it and boost it, in forms. */

/** Interaction that forms offer a choice for. */
export type Controlled = typeof controlled[number]

/** Accounts that may interact at once: "" for the member's defaults, a group, or the stored words of another policy. */
export interface PolicyChoice {
  readonly audience: string
  /** True if everyone else may ask first. */
  readonly mayAsk: boolean
}

const groups: ReadonlySet<string> = new Set(["public", "followers", "following", "mutuals", "author"])
const given = { canReply: "canReply", canLike: "canFavourite", canAnnounce: "canReblog" } as const
const invalid = validationFailed("Interaction policy is not included in the list")

/** Returns the choice of a form for a stored policy. */
export const choiceOf = (stored: StoredPolicy, interaction: Controlled): PolicyChoice => {
  const policy = subPolicyOf(stored, interaction)
  if (policy === undefined) return { audience: "public", mayAsk: false }
  const { automatic, manual } = policy
  const mayAsk = manual.length === 1 && manual[0] === "public"
  const who = automatic[0] ?? "author"
  return automatic.length <= 1 && groups.has(who) && (manual.length === 0 || mayAsk)
    ? { audience: who, mayAsk }
    : { audience: (withPolicy(null, interaction, policy) ?? []).join(" "), mayAsk: false }
}

/** Returns the stored words of a choice. Fails if it is not one that the form offered. */
export const entriesOf = Effect.fnUntraced(function*(
  interaction: Controlled,
  { mayAsk, audience }: PolicyChoice
): Effect.fn.Return<ReadonlyArray<string>, Unprocessable> {
  if (groups.has(audience)) {
    const manualApproval = mayAsk && audience !== "public" ? ["public"] : []
    return (yield* policyEntriesOf({ [given[interaction]]: { automaticApproval: [audience], manualApproval } })) ?? []
  }
  const policy = subPolicyOf(audience.split(" "), interaction)
  if (policy === undefined || policy.automatic.length + policy.manual.length > 2 * singlesMax) return yield* invalid
  return withPolicy(null, interaction, policy) ?? []
})

interface PolicyField {
  readonly name: string
  /** Name of the check box that lets others ask. */
  readonly askName: string
  readonly chosen: PolicyChoice
  /** True if the member's defaults are a choice. */
  readonly hasDefault?: boolean
}

/** Renders the choice for an interaction. */
export const policyField = (
  { say }: Messages,
  interaction: Controlled,
  { askName, chosen: { mayAsk, audience }, hasDefault = false, name }: PolicyField
): Html => {
  const labels = {
    canReply: say("Who may reply"),
    canLike: say("Who may favourite"),
    canAnnounce: say("Who may boost")
  }
  return html`${
    choice(name, labels[interaction], audience, [
      ...(hasDefault ? [["", say("As in your settings")] as const] : []),
      ["public", say("Everyone")],
      ["followers", say("Your followers")],
      ["following", say("People you follow")],
      ["mutuals", say("Mutual follows")],
      ["author", say("Only you")],
      ...(audience === "" || groups.has(audience) ? [] : [[audience, say("As set in an app")] as const])
    ])
  }${checkBox(askName, say("Others may ask you first"), mayAsk)}`
}
