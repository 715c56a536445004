import { Schema } from "effect"
import { isPublicOrUnlisted, type Visibility } from "./Visibility.ts"

/*
 * Interaction policies of statuses. A policy is stored as words: "canQuote:automatic:followers"; a single account is
 * its URL-encoded id. A bare interaction ("canQuote") is allowed to the author only; an absent one has its default.
 */

export const interactions = ["canQuote", "canReply", "canLike", "canAnnounce"] as const
export type Interaction = typeof interactions[number]
const Approval = Schema.Literals(["automatic", "manual"])
type Approval = typeof Approval.Type
/** Groups of accounts. "mutuals" follow each other; "unsupported" are groups that only the author's server knows. */
const Group = Schema.Literals(["public", "followers", "following", "mutuals", "mentioned", "unsupported"])
/** A single account, by id. */
const Single = Schema.TemplateLiteral([Schema.Literals(["http://", "https://"]), Schema.String])
/** Audience of a policy. */
export type PolicyEntry = typeof Group.Type | typeof Single.Type

/** Maximum single accounts in a policy, and maximum characters of an id. */
export const singlesMax = 20
const singleCharactersMax = 500

/**
 * Audiences that are allowed automatically, and those whose requests the author decides. The author is always allowed.
 */
export interface SubPolicy {
  readonly automatic: ReadonlyArray<PolicyEntry>
  readonly manual: ReadonlyArray<PolicyEntry>
}

/** Policy as stored with a status; null for all defaults. */
export const StoredPolicy = Schema.NullOr(Schema.Array(Schema.String))
export type StoredPolicy = typeof StoredPolicy.Type

const nobody: SubPolicy = { automatic: [], manual: [] }
const everybody: SubPolicy = { automatic: ["public"], manual: [] }

const isApproval = Schema.is(Approval)
const isGroup = Schema.is(Group)
const isSingle = Schema.is(Single)

/** Returns true if the text is the id of an account. */
export const isSingleAccount = (text: string): text is typeof Single.Type =>
  isSingle(text) && text.length <= singleCharactersMax && URL.canParse(text)

const wordOf = (who: PolicyEntry) => isSingle(who) ? encodeURIComponent(who) : who
const audienceOf = (word: string): ReadonlyArray<PolicyEntry> => {
  if (isGroup(word)) return [word]
  const single = word.startsWith("http") ? decodeURIComponent(word) : ""
  return isSingle(single) ? [single] : []
}

/** Returns the sub-policy of an interaction; undefined if the policy has none. */
export const subPolicyOf = (stored: StoredPolicy, interaction: Interaction): SubPolicy | undefined => {
  const words = (stored ?? []).filter((word) => word === interaction || word.startsWith(`${interaction}:`))
  if (words.length === 0) return undefined
  const of = (approval: Approval) =>
    words.flatMap((word) => {
      const [, how, who = ""] = word.split(":")
      return isApproval(how) && how === approval ? audienceOf(who) : []
    })
  return { automatic: of("automatic"), manual: of("manual") }
}

/** Returns the policy with this sub-policy of an interaction; undefined removes it. */
export const withPolicy = (
  stored: StoredPolicy,
  interaction: Interaction,
  given: SubPolicy | undefined
): StoredPolicy => {
  const others = (stored ?? []).filter((word) => word !== interaction && !word.startsWith(`${interaction}:`))
  const words = given === undefined ? [] : [
    interaction,
    ...given.automatic.map((who) => `${interaction}:automatic:${wordOf(who)}`),
    ...given.manual.map((who) => `${interaction}:manual:${wordOf(who)}`)
  ]
  const all = [...others, ...words]
  return all.length === 0 ? null : all
}

/** Interactions that one setting covers, apart from quotes. */
export const controlled = ["canReply", "canLike", "canAnnounce"] as const
const isAbout = (word: string, interactions: ReadonlyArray<Interaction>) =>
  interactions.some((one) => word === one || word.startsWith(`${one}:`))

/** Replaces the words about replies, favourites and boosts, and about quotes if the new words mention them. */
export const withControl = (stored: StoredPolicy, words: ReadonlyArray<string>): StoredPolicy => {
  const replaced = mentionsQuotes(words) ? interactions : controlled
  const all = [...(stored ?? []).filter((word) => !isAbout(word, replaced)), ...words]
  return all.length === 0 ? null : all
}

/** Returns true if policy words mention quotes. */
const mentionsQuotes = (words: ReadonlyArray<string>): boolean => words.some((word) => isAbout(word, ["canQuote"]))

/** The fields of a status that determine its policy. */
export interface PolicySubject {
  readonly interactionPolicy: StoredPolicy
  readonly visibility: Visibility
  readonly local: boolean
}

/**
 * Returns the effective sub-policy. Local posts that are not public or unlisted can be quoted by their author only, and
 * so can remote posts without a quote policy.
 */
export const policyOf = (
  { interactionPolicy, local, visibility }: PolicySubject,
  interaction: Interaction
): SubPolicy => {
  if (interaction !== "canQuote") return subPolicyOf(interactionPolicy, interaction) ?? everybody
  if (visibility === "direct" || (local && !isPublicOrUnlisted(visibility))) return nobody
  return subPolicyOf(interactionPolicy, interaction) ?? (local ? everybody : nobody)
}

/** Relation of an account to a status and its author. */
export interface PolicyRelation {
  readonly isAuthor: boolean
  /** The account follows the author, and is followed by the author. */
  readonly follows: boolean
  readonly followed: boolean
  readonly mentioned: boolean
  /** The account's id; absent if policies cannot name a single account. */
  readonly uri?: string
}

export type Verdict = Approval | "denied" | "unknown"

/** Returns the policy's verdict on an account that may see the status. Single accounts take precedence over groups. */
export const decide = ({ automatic, manual }: SubPolicy, standing: PolicyRelation): Verdict => {
  const { followed, follows, isAuthor, mentioned, uri } = standing
  const names = (who: PolicyEntry) => who === uri
  const holds = (who: PolicyEntry) =>
    who === "public" || (who === "followers" && follows) || (who === "following" && followed) ||
    (who === "mutuals" && follows && followed) || (who === "mentioned" && mentioned)
  if (isAuthor || automatic.some(names)) return "automatic"
  if (manual.some(names)) return "manual"
  if (automatic.some(holds)) return "automatic"
  if (manual.some(holds)) return "manual"
  return [...automatic, ...manual].includes("unsupported") ? "unknown" : "denied"
}

/** Returns true if everyone who may see the status may do it, without a check. */
export const isOpenToAll = (stored: StoredPolicy, interaction: Interaction): boolean => {
  const policy = subPolicyOf(stored, interaction)
  return policy === undefined || (policy.automatic.includes("public") && !policy.manual.some(isSingle))
}

/** Returns true if the verdict depends on follows. */
export const dependsOnFollows = ({ automatic, manual }: SubPolicy): boolean =>
  !automatic.includes("public") &&
  [...automatic, ...manual].some((who) => who === "followers" || who === "following" || who === "mutuals")

/** Quote policy in the words of the API. */
export const QuotePolicy = Schema.Literals(["public", "followers", "nobody"])
export type QuotePolicy = typeof QuotePolicy.Type

/** Stores a quote policy; everyone needs no word. */
export const withQuotePolicy = (stored: StoredPolicy, given: QuotePolicy): StoredPolicy =>
  withPolicy(
    stored,
    "canQuote",
    given === "public" ? undefined : given === "followers" ? { automatic: ["followers"], manual: [] } : nobody
  )

/**
 * Builds the policy of a new status: these words, and the requested quote policy, or `otherwise` if neither mentions
 * quotes.
 */
export const newPolicy = (
  words: ReadonlyArray<string>,
  chosen: QuotePolicy | null,
  otherwise: QuotePolicy
): StoredPolicy => {
  const control = withControl(null, words)
  const quoting = chosen ?? (mentionsQuotes(words) ? undefined : otherwise)
  return quoting === undefined ? control : withQuotePolicy(control, quoting)
}
