import { Schema } from "effect"
import { Timestamptz } from "../database/Rows.ts"

/** Maximum rules of a server; those that are on are applied to each post. */
export const rulesMax = 50
/** Maximum entries of a list in a condition, and maximum characters of each. */
export const termsMax = 100
export const termCharactersMax = 200
/** Maximum characters of a rule's name, and maximum score of a rule. */
export const nameCharactersMax = 100
export const scoreMax = 1_000

/** States: `off` does nothing, `dry` only counts matches, `on` also acts. */
export const RuleState = Schema.Literals(["off", "dry", "on"])
/** Actions from mildest to strictest; `pass` lets a post through regardless of later rules. */
export const RuleAction = Schema.Literals(["pass", "score", "report", "limit", "hold", "drop"])
export type RuleAction = typeof RuleAction.Type

/** Groups whose names and pictures must not be imitated: staff, local accounts, and accounts with many followers. */
export const Lookalike = Schema.Literals(["staff", "local", "followed"])
export type Lookalike = typeof Lookalike.Type

const many = Schema.optionalKey(Schema.Array(Schema.String))
const number = Schema.optionalKey(Schema.Int)

/** Conditions of a rule. All of them must match; of a list any entry. */
export const Conditions = Schema.Struct({
  /** Text anywhere in the post, and whole words or phrases. */
  textContains: many,
  textWords: many,
  /** Domains of links, including subdomains. */
  linkDomains: many,
  linksMin: number,
  mentionsMin: number,
  /** Mentioned accounts that do not follow the author. */
  strangersMin: number,
  origin: Schema.optionalKey(Schema.Literals(["local", "remote"])),
  /** Domains of the author, including subdomains. */
  domains: many,
  accountHoursMax: number,
  statusesMax: number,
  followersMax: number,
  /** Posts of the author within an hour before this one. */
  hourlyPostsMin: number,
  lookAlike: Schema.optionalKey(Schema.Array(Lookalike)),
  /** Pictures that the author's picture resembles: those of groups, or of accounts as `name` or `name@domain`. */
  avatarAlike: Schema.optionalKey(Schema.Array(Lookalike)),
  avatarAccounts: many,
  /**
   * Boosts of the author within an hour, and other accounts that boosted the same post within a day. A rule with these
   * conditions only applies to boosts.
   */
  hourlyBoostsMin: number,
  sameBoostAccountsMin: number,
  /** Other accounts that posted the same text within a day. */
  sameTextAccountsMin: number,
  /** Scores of the author and of the author's server, with a half-life of a week. */
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
  /** Addition to the score by action `score`. */
  score: Schema.Int,
  conditions: Conditions,
  createdAt: Timestamptz,
  updatedAt: Timestamptz
})
export type SpamRule = typeof SpamRule.Type
