import { Schema } from "effect"
import { Timestamptz } from "../Rows.ts"

/** Rules of a server; those that are on are asked about each post. */
export const rulesMax = 50
/** Entries of one list of a condition, and characters of each. */
export const termsMax = 100
export const termCharactersMax = 200
/** Characters of a rule's name, and the most that one rule adds to a score. */
export const nameCharactersMax = 100
export const scoreMax = 1_000

/** What a rule counts: nothing, what it would have found, or what it finds and acts on. */
export const RuleState = Schema.Literals(["off", "dry", "on"])
/** From the mildest to the hardest; `pass` lets a post through whatever later rules say. */
export const RuleAction = Schema.Literals(["pass", "score", "report", "limit", "hold", "drop"])
export type RuleAction = typeof RuleAction.Type

/** Whose name is not to be worn: of staff, of people here, of those whom many follow. */
export const Lookalike = Schema.Literals(["staff", "local", "followed"])
export type Lookalike = typeof Lookalike.Type

const many = Schema.optionalKey(Schema.Array(Schema.String))
const number = Schema.optionalKey(Schema.Int)

/** What a rule asks; all that is said holds, of a list one entry does. */
export const Conditions = Schema.Struct({
  /** Anywhere in the text, and as whole words or phrases. */
  textContains: many,
  textWords: many,
  /** Domains of links, their subdomains included. */
  linkDomains: many,
  linksMin: number,
  mentionsMin: number,
  /** Of people who do not follow the author. */
  strangersMin: number,
  origin: Schema.optionalKey(Schema.Literals(["local", "remote"])),
  /** Of the author, subdomains included. */
  domains: many,
  accountHoursMax: number,
  statusesMax: number,
  followersMax: number,
  /** Posts of the author within an hour before this one. */
  hourlyPostsMin: number,
  lookAlike: Schema.optionalKey(Schema.Array(Lookalike)),
  /** The author's picture looks like one of these, or of these accounts: `name` or `name@domain`. */
  avatarAlike: Schema.optionalKey(Schema.Array(Lookalike)),
  avatarAccounts: many,
  /** Boosts of the author within an hour before, and others who boosted the same within a day: such a rule is about boosts alone. */
  hourlyBoostsMin: number,
  sameBoostAccountsMin: number,
  /** Others who said the same within a day. */
  sameTextAccountsMin: number,
  /** What rules gave the author, and the author's server; what is a week old counts half. */
  scoreMin: number,
  domainScoreMin: number
})
export type Conditions = typeof Conditions.Type

export const SpamRule = Schema.Struct({
  id: Schema.BigInt,
  place: Schema.Int,
  name: Schema.String,
  state: RuleState,
  action: RuleAction,
  /** What `score` adds. */
  score: Schema.Int,
  conditions: Conditions,
  createdAt: Timestamptz,
  updatedAt: Timestamptz
})
export type SpamRule = typeof SpamRule.Type
