import { Schema } from "effect"
import { isOpen, type Visibility } from "./Visibility.ts"

/*
 * Who may do what with a status, as its author says. A policy is kept as words: "canQuote:automatic:followers", where a single
 * account is its id as a part of an address has it. An interaction that is named alone ("canQuote") is its author's only, one
 * that is not named is what it is by default.
 */

export const interactions = ["canQuote", "canReply", "canLike", "canAnnounce"] as const
export type Interaction = typeof interactions[number]
const Approval = Schema.Literals(["automatic", "manual"])
type Approval = typeof Approval.Type
/** People in general. "mutuals" follow and are followed; "unsupported" are people whom only the author's server knows. */
const Group = Schema.Literals(["public", "followers", "following", "mutuals", "mentioned", "unsupported"])
/** A single account, by its id. */
const Single = Schema.TemplateLiteral([Schema.Literals(["http://", "https://"]), Schema.String])
/** Those whom a policy means. */
export type Audience = typeof Group.Type | typeof Single.Type

/** Single accounts that one policy names, and characters of the id of one. */
export const singlesMax = 20
const singleCharactersMax = 500

/** Who may do it without being asked about, and for whom the author is asked. The author always may. */
export interface SubPolicy {
  readonly automatic: ReadonlyArray<Audience>
  readonly manual: ReadonlyArray<Audience>
}

/** A policy as a status keeps it; null for the default of everything. */
export const StoredPolicy = Schema.NullOr(Schema.Array(Schema.String))
export type StoredPolicy = typeof StoredPolicy.Type

const nobody: SubPolicy = { automatic: [], manual: [] }
const everybody: SubPolicy = { automatic: ["public"], manual: [] }

const isApproval = Schema.is(Approval)
const isGroup = Schema.is(Group)
const isSingle = Schema.is(Single)

/** Whether a text names an account by its id. */
export const isSingleAccount = (text: string): text is typeof Single.Type =>
  isSingle(text) && text.length <= singleCharactersMax && URL.canParse(text)

const wordOf = (who: Audience) => isSingle(who) ? encodeURIComponent(who) : who
const audienceOf = (word: string): ReadonlyArray<Audience> => {
  if (isGroup(word)) return [word]
  const single = word.startsWith("http") ? decodeURIComponent(word) : ""
  return isSingle(single) ? [single] : []
}

/** What a policy says of an interaction; undefined where it says nothing. */
export const policySaid = (stored: StoredPolicy, interaction: Interaction): SubPolicy | undefined => {
  const words = (stored ?? []).filter((word) => word === interaction || word.startsWith(`${interaction}:`))
  if (words.length === 0) return undefined
  const of = (approval: Approval) =>
    words.flatMap((word) => {
      const [, how, who = ""] = word.split(":")
      return isApproval(how) && how === approval ? audienceOf(who) : []
    })
  return { automatic: of("automatic"), manual: of("manual") }
}

/** A policy in which an interaction is what is given; undefined takes what is said of it away. */
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

/** Those of which a policy is said at once, beside who may quote. */
export const controlled = ["canReply", "canLike", "canAnnounce"] as const
const isAbout = (word: string, interactions: ReadonlyArray<Interaction>) =>
  interactions.some((one) => word === one || word.startsWith(`${one}:`))

/** A policy in which these words stand for what it said of replies, favourites and reblogs, and of quotes where they name them. */
export const withControl = (stored: StoredPolicy, words: ReadonlyArray<string>): StoredPolicy => {
  const replaced = saysOfQuotes(words) ? interactions : controlled
  const all = [...(stored ?? []).filter((word) => !isAbout(word, replaced)), ...words]
  return all.length === 0 ? null : all
}

/** Whether words of a policy say who may quote. */
const saysOfQuotes = (words: ReadonlyArray<string>): boolean => words.some((word) => isAbout(word, ["canQuote"]))

/** A status as far as its policy depends on it. */
export interface Governed {
  readonly interactionPolicy: StoredPolicy
  readonly visibility: Visibility
  readonly local: boolean
}

/** Who may do it. What is for a few is quoted by its author alone, and elsewhere so is what says nothing of it. */
export const policyOf = ({ interactionPolicy, local, visibility }: Governed, interaction: Interaction): SubPolicy => {
  if (interaction !== "canQuote") return policySaid(interactionPolicy, interaction) ?? everybody
  if (visibility === "direct" || (local && !isOpen(visibility))) return nobody
  return policySaid(interactionPolicy, interaction) ?? (local ? everybody : nobody)
}

/** How somebody stands to a status and its author. */
export interface Standing {
  readonly isAuthor: boolean
  /** The one follows the author, and is followed by the author. */
  readonly follows: boolean
  readonly followed: boolean
  readonly mentioned: boolean
  /** The one's id; absent where no single account can be meant. */
  readonly uri?: string
}

export type Verdict = Approval | "denied" | "unknown"

/** What the policy says to somebody who may see the status. What is said of a single account goes before what is said of many. */
export const decide = ({ automatic, manual }: SubPolicy, standing: Standing): Verdict => {
  const { followed, follows, isAuthor, mentioned, uri } = standing
  const names = (who: Audience) => who === uri
  const holds = (who: Audience) =>
    who === "public" || (who === "followers" && follows) || (who === "following" && followed) ||
    (who === "mutuals" && follows && followed) || (who === "mentioned" && mentioned)
  if (isAuthor || automatic.some(names)) return "automatic"
  if (manual.some(names)) return "manual"
  if (automatic.some(holds)) return "automatic"
  if (manual.some(holds)) return "manual"
  return [...automatic, ...manual].includes("unsupported") ? "unknown" : "denied"
}

/** Whether everybody who may see a status may do it, so that nothing has to be asked. */
export const isFree = (stored: StoredPolicy, interaction: Interaction): boolean => {
  const said = policySaid(stored, interaction)
  return said === undefined || (said.automatic.includes("public") && !said.manual.some(isSingle))
}

/** Whether the answer depends on who follows whom. */
export const dependsOnFollows = ({ automatic, manual }: SubPolicy): boolean =>
  !automatic.includes("public") &&
  [...automatic, ...manual].some((who) => who === "followers" || who === "following" || who === "mutuals")

/** Who may quote, in the words of clients. */
export const QuotePolicy = Schema.Literals(["public", "followers", "nobody"])
export type QuotePolicy = typeof QuotePolicy.Type

/** The same as a policy is stored; what everybody may needs no word. */
export const withQuotePolicy = (stored: StoredPolicy, given: QuotePolicy): StoredPolicy =>
  withPolicy(
    stored,
    "canQuote",
    given === "public" ? undefined : given === "followers" ? { automatic: ["followers"], manual: [] } : nobody
  )

/** The policy of a new status: these words, and who may quote it as is said, or where nothing is said of that. */
export const newPolicy = (
  words: ReadonlyArray<string>,
  said: QuotePolicy | null,
  otherwise: QuotePolicy
): StoredPolicy => {
  const control = withControl(null, words)
  const quoting = said ?? (saysOfQuotes(words) ? undefined : otherwise)
  return quoting === undefined ? control : withQuotePolicy(control, quoting)
}
