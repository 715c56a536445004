import { foreignSinglesMax } from "../../instance/ForeignLimits.ts"
import {
  type Interaction,
  interactions,
  isSingleAccount,
  type PolicyEntry,
  policyOf,
  type PolicySubject,
  type StoredPolicy,
  type SubPolicy,
  subPolicyOf,
  withPolicy
} from "../../statuses/InteractionPolicy.ts"
import * as LocalIds from "../LocalIds.ts"
import { asForeign, type Foreign, idsOf } from "./ForeignValues.ts"
import { type Document, isPublicCollection, publicCollection } from "./Vocabulary.ts"

/* Interaction policies of posts, in GoToSocial's terms (federation.md section 9, `interactionPolicy`). */

const link = (word: string) => ({ "@id": `gts:${word}`, "@type": "@id" })

export const policyTerms = {
  gts: "https://gotosocial.org/ns#",
  interactionPolicy: link("interactionPolicy"),
  canQuote: link("canQuote"),
  canReply: link("canReply"),
  canLike: link("canLike"),
  canAnnounce: link("canAnnounce"),
  automaticApproval: link("automaticApproval"),
  manualApproval: link("manualApproval"),
  approvedBy: link("approvedBy"),
  replyAuthorization: link("replyAuthorization"),
  announceAuthorization: link("announceAuthorization")
}

/** Returns the policy of a local post: what it states, and always who may quote. The mentioned accounts are listed. */
export const policyDocument = (status: PolicySubject, actor: string, mentioned: ReadonlyArray<string>): Document => {
  const idsOfAudience = (who: PolicyEntry): ReadonlyArray<string> => {
    switch (who) {
      case "public":
        return [publicCollection]
      case "followers":
        return [LocalIds.followers(actor)]
      case "following":
        return [LocalIds.following(actor)]
      case "mentioned":
        return mentioned
      // There is no collection of them: they must request, and are approved automatically.
      case "mutuals":
      case "unsupported":
        return []
      default:
        return [who]
    }
  }
  const listed = (audiences: ReadonlyArray<PolicyEntry>) => audiences.flatMap(idsOfAudience)
  const documentOf = ({ automatic, manual }: SubPolicy, reply: boolean): Document => {
    const named = listed(automatic)
    // Mentioned accounts may always reply.
    const always = reply && !named.includes(publicCollection) ? [...named, actor, ...mentioned] : named
    const asking = [
      ...listed(manual),
      ...([...automatic, ...manual].includes("mutuals") ? [LocalIds.followers(actor)] : [])
    ].filter((id) => !always.includes(id))
    return {
      automaticApproval: always.length === 0 ? [actor] : [...new Set(always)],
      ...(asking.length === 0 ? {} : { manualApproval: [...new Set(asking)] })
    }
  }
  const stated = interactions.filter((interaction) =>
    interaction === "canQuote" || subPolicyOf(status.interactionPolicy, interaction) !== undefined
  )
  return Object.fromEntries(
    stated.map((interaction) => [interaction, documentOf(policyOf(status, interaction), interaction === "canReply")])
  )
}

/** Parses the policy of a remote post; `author` has the ids in its actor document. */
export const foreignPolicy = (
  note: Foreign,
  author: { readonly uri: string; readonly followersUrl: string | null }
): StoredPolicy => {
  const policy = asForeign(note["interactionPolicy"])
  const audienceOf = (id: string): ReadonlyArray<PolicyEntry> =>
    isPublicCollection(id)
      ? ["public"]
      : id === author.followersUrl
      ? ["followers"]
      : id === `${author.uri}/following`
      ? ["following"]
      : id === author.uri
      ? []
      // May be a local account, or a collection that only its server knows.
      : isSingleAccount(id)
      ? [id, "unsupported"]
      : ["unsupported"]
  const read = (interaction: Interaction) => {
    const rules = asForeign(policy?.[interaction])
    if (rules === undefined) return undefined
    const list = (...words: ReadonlyArray<string>) => [
      ...new Set(words.flatMap((word) => idsOf(rules[word])).slice(0, foreignSinglesMax).flatMap(audienceOf))
    ]
    // The second property is from earlier versions.
    return { automatic: list("automaticApproval", "always"), manual: list("manualApproval", "approvalRequired") }
  }
  return interactions.reduce<StoredPolicy>((stored, interaction) => {
    const given = read(interaction)
    return given === undefined ? stored : withPolicy(stored, interaction, given)
  }, null)
}
