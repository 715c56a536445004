import { Schema } from "effect"
import { AdminAccount } from "../../staff/wire/AdminAccount.ts"
import { Count, Id, Timestamp } from "../../wire/Common.ts"
import { hash, Integer, list, Text } from "../../wire/Params.ts"
import { Status } from "../../wire/Status.ts"

const texts = Schema.Array(Schema.String)
const optionalTexts = Schema.optionalKey(texts)
const count = Schema.optionalKey(Count)
const optionalLooks = Schema.optionalKey(Schema.Array(Schema.Literals(["staff", "local", "followed"])))

const origin = Schema.Literals(["local", "remote"])
const visibility = Schema.Literals(["public", "unlisted", "private", "direct"])

/** Conditions of a rule: all that are present must hold; for a list, one entry must match. */
const SpamConditions = Schema.Struct({
  text_contains: optionalTexts,
  text_words: optionalTexts,
  link_domains: optionalTexts,
  links_min: count,
  mentions_min: count,
  strangers_min: count,
  origin: Schema.optionalKey(origin),
  domains: optionalTexts,
  account_hours_max: count,
  statuses_max: count,
  followers_max: count,
  hourly_posts_min: count,
  look_alike: optionalLooks,
  avatar_alike: optionalLooks,
  avatar_accounts: optionalTexts,
  hourly_boosts_min: count,
  same_boost_accounts_min: count,
  same_text_accounts_min: count,
  score_min: count,
  domain_score_min: count
})

export const AdminSpamRule = Schema.Struct({
  id: Id,
  name: Schema.String,
  position: Count,
  state: Schema.Literals(["off", "dry", "on"]),
  action: Schema.Literals(["pass", "score", "report", "limit", "hold", "drop"]),
  score: Schema.Int,
  conditions: SpamConditions,
  hits: Schema.Struct({ on: Count, dry: Count }),
  created_at: Timestamp,
  updated_at: Timestamp
}).annotate({ identifier: "Admin::SpamRule" })
export type AdminSpamRule = typeof AdminSpamRule.Type

const text = Schema.optionalKey(Schema.NullOr(Text))
const many = Schema.optionalKey(list(Text))
const number = Schema.optionalKey(Integer)
const ConditionsWrite = Schema.Struct({
  textContains: many,
  textWords: many,
  linkDomains: many,
  linksMin: number,
  mentionsMin: number,
  strangersMin: number,
  origin: text,
  domains: many,
  accountHoursMax: number,
  statusesMax: number,
  followersMax: number,
  hourlyPostsMin: number,
  lookAlike: many,
  avatarAlike: many,
  avatarAccounts: many,
  hourlyBoostsMin: number,
  sameBoostAccountsMin: number,
  sameTextAccountsMin: number,
  scoreMin: number,
  domainScoreMin: number
}).pipe(Schema.encodeKeys({
  textContains: "text_contains",
  textWords: "text_words",
  linkDomains: "link_domains",
  linksMin: "links_min",
  mentionsMin: "mentions_min",
  strangersMin: "strangers_min",
  accountHoursMax: "account_hours_max",
  statusesMax: "statuses_max",
  followersMax: "followers_max",
  hourlyPostsMin: "hourly_posts_min",
  lookAlike: "look_alike",
  avatarAlike: "avatar_alike",
  avatarAccounts: "avatar_accounts",
  hourlyBoostsMin: "hourly_boosts_min",
  sameBoostAccountsMin: "same_boost_accounts_min",
  sameTextAccountsMin: "same_text_accounts_min",
  scoreMin: "score_min",
  domainScoreMin: "domain_score_min"
}))
/** Conditions are replaced as a whole; `position` begins with 1. */
export const SpamRuleWrite = Schema.Struct({
  name: text,
  state: text,
  action: text,
  score: number,
  position: number,
  conditions: Schema.optionalKey(hash(ConditionsWrite))
})
export type SpamRuleWrite = typeof SpamRuleWrite.Type

export const SpamRuleOrder = Schema.Struct({ ids: Schema.optionalKey(list(Text)) })

export const SpamRunStart = Schema.Struct({ days: number })

/** Results of a dry run: matches of each rule in the posts of the last days; samples are status ids. */
export const AdminSpamRun = Schema.Struct({
  id: Id,
  days: Count,
  state: Schema.Literals(["waiting", "done", "failed"]),
  statuses_count: Count,
  results: Schema.Array(Schema.Struct({
    rule_id: Id,
    name: Schema.String,
    statuses_count: Count,
    accounts_count: Count,
    samples: Schema.Array(Id)
  })),
  created_at: Timestamp,
  finished_at: Schema.NullOr(Timestamp)
}).annotate({ identifier: "Admin::SpamRun" })
export type AdminSpamRun = typeof AdminSpamRun.Type

/** A held post; `visibility` is its audience after approval. */
export const AdminHeldPost = Schema.Struct({
  id: Id,
  rule_id: Schema.NullOr(Id),
  rule_name: Schema.NullOr(Schema.String),
  visibility,
  created_at: Timestamp,
  account: AdminAccount,
  status: Status
}).annotate({ identifier: "Admin::HeldPost" })
export type AdminHeldPost = typeof AdminHeldPost.Type
