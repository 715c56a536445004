import { Effect } from "effect"
import { keywordSearch } from "../filters/KeywordSearch.ts"
import { bounded } from "../text/BoundedText.ts"
import { mapWithYields } from "../text/Turns.ts"
import type { Conditions, Lookalike, SpamRule } from "./SpamRule.ts"
import { folded, type PostText, spaced } from "./SpamText.ts"

/** Facts that a post itself shows. */
export interface PostFacts extends PostText {
  /** Domain of the author; null for local accounts. */
  readonly domain: string | null
  readonly mentions: number
  /** True for a boost; the text is that of the boosted post. */
  readonly boost: boolean
}

/** Facts about the author at the time of the post. */
export interface AuthorFacts {
  /** True for staff, whom no rule applies to. */
  readonly exempt: boolean
  readonly accountHours: number
  readonly statuses: number
  readonly followers: number
  readonly hourlyPosts: number
  readonly strangers: number
  readonly lookAlike: ReadonlyArray<Lookalike>
  readonly avatarAlike: ReadonlyArray<Lookalike>
  readonly avatarAccounts: ReadonlyArray<string>
  readonly sameTextAccounts: number
  readonly hourlyBoosts: number
  readonly sameBoostAccounts: number
  readonly score: number
  readonly domainScore: number
}

type Rule = Pick<SpamRule, "id" | "name" | "state" | "action" | "score" | "conditions">

/** A rule with compiled tests. */
export interface CompiledRule extends Rule {
  /** Returns true if the post matches the rule's conditions. */
  readonly matchesPost: (post: PostFacts) => boolean
  /** Returns true if the author matches, too; `score` is the author's, plus the scores of preceding rules. */
  readonly holds: (author: AuthorFacts, score: number) => boolean
}

/** Returns true if a name is one of the domains or a subdomain. */
const among = (domains: ReadonlySet<string>, name: string): boolean => {
  for (let rest = name; rest !== "";) {
    if (domains.has(rest)) return true
    const dot = rest.indexOf(".")
    rest = dot === -1 ? "" : rest.slice(dot + 1)
  }
  return false
}

type Test<A> = (facts: A) => boolean

/** Returns true if a rule is about boosts instead of posts. */
export const isAboutBoosts = ({ hourlyBoostsMin, sameBoostAccountsMin }: Conditions): boolean =>
  hourlyBoostsMin !== undefined || sameBoostAccountsMin !== undefined

/** Combines all conditions about a post into one test. */
const postTest = (conditions: Conditions): Test<PostFacts> => {
  const { domains, linkDomains, linksMin, mentionsMin, origin, strangersMin, textContains, textWords } = conditions
  const aboutBoosts = isAboutBoosts(conditions)
  const tests: Array<Test<PostFacts>> = [({ boost }) => boost === aboutBoosts]
  if (origin !== undefined) tests.push(({ domain }) => (domain === null) === (origin === "local"))
  if (domains !== undefined) {
    const named = new Set(domains.map((one) => one.toLowerCase()))
    tests.push(({ domain }) => domain !== null && among(named, domain.toLowerCase()))
  }
  const leastMentions = Math.max(mentionsMin ?? 0, strangersMin ?? 0)
  if (leastMentions > 0) tests.push(({ mentions }) => mentions >= leastMentions)
  if (linksMin !== undefined) tests.push(({ hosts }) => hosts.length >= linksMin)
  if (linkDomains !== undefined) {
    const named = new Set(linkDomains.map((one) => one.toLowerCase()))
    tests.push(({ hosts }) => hosts.some((host) => among(named, host)))
  }
  if (conditions.sameTextAccountsMin !== undefined) tests.push(({ hash }) => hash !== undefined)
  if (textContains !== undefined) {
    const { find } = keywordSearch(textContains.map((term) => folded(bounded(term))).filter((term) => term !== ""))
    tests.push(({ text }) => find(text).length > 0)
  }
  if (textWords !== undefined) {
    const { find } = keywordSearch(textWords.map((term) => spaced(folded(bounded(term)))))
    tests.push(({ words }) => find(words).length > 0)
  }
  return (post) => tests.every((test) => test(post))
}

const authorTest = (conditions: Conditions): (author: AuthorFacts, score: number) => boolean => {
  const { accountHoursMax, avatarAccounts, avatarAlike, domainScoreMin, followersMax, hourlyPostsMin } = conditions
  const { hourlyBoostsMin, lookAlike, sameBoostAccountsMin, sameTextAccountsMin, scoreMin } = conditions
  const { statusesMax, strangersMin } = conditions
  return (author, score) =>
    (accountHoursMax === undefined || author.accountHours <= accountHoursMax) &&
    (statusesMax === undefined || author.statuses <= statusesMax) &&
    (followersMax === undefined || author.followers <= followersMax) &&
    (hourlyPostsMin === undefined || author.hourlyPosts >= hourlyPostsMin) &&
    (strangersMin === undefined || author.strangers >= strangersMin) &&
    (sameTextAccountsMin === undefined || author.sameTextAccounts >= sameTextAccountsMin) &&
    (lookAlike === undefined || lookAlike.some((kind) => author.lookAlike.includes(kind))) &&
    (avatarAlike === undefined || avatarAlike.some((kind) => author.avatarAlike.includes(kind))) &&
    (avatarAccounts === undefined || avatarAccounts.some((name) => author.avatarAccounts.includes(name))) &&
    (hourlyBoostsMin === undefined || author.hourlyBoosts >= hourlyBoostsMin) &&
    (sameBoostAccountsMin === undefined || author.sameBoostAccounts >= sameBoostAccountsMin) &&
    (scoreMin === undefined || Math.round(score) >= scoreMin) &&
    (domainScoreMin === undefined || Math.round(author.domainScore) >= domainScoreMin)
}

export const compileRule = (rule: Rule): CompiledRule => {
  const test = postTest(rule.conditions)
  let last: { readonly post: PostFacts; readonly matchingRules: boolean } | undefined
  return {
    ...rule,
    // Called twice per post: in turns, and by `judge`.
    matchesPost: (post) => {
      if (last?.post !== post) last = { post, matchingRules: test(post) }
      return last.matchingRules
    },
    holds: authorTest(rule.conditions)
  }
}

/** Returns the rules that match a post by itself. Yields between rules, as each reads the whole text. */
export const concerned = (rules: ReadonlyArray<CompiledRule>, post: PostFacts) =>
  Effect.map(
    mapWithYields(rules, () => post.text, (rule) => rule.matchesPost(post) ? [rule] : []),
    (found) => found.flat()
  )

/** Result of the rules for a post. */
export interface Verdict {
  /** Matching rules in order; dry ones have no other effect. */
  readonly hits: ReadonlyArray<Pick<Rule, "id" | "name" | "state" | "action">>
  /** Addition to the author's score. */
  readonly score: number
  readonly reports: boolean
  readonly limits: boolean
  /** Fate of the post; undefined if it passes. */
  readonly end: "hold" | "drop" | undefined
}

/** Verdict without a match. */
export const noVerdict: Verdict = { hits: [], score: 0, reports: false, limits: false, end: undefined }

/**
 * Applies rules in order. A rule that passes, holds or drops the post ends the chain; after others it continues, and
 * scores count for the rules that follow.
 */
export const judge = (rules: ReadonlyArray<CompiledRule>, post: PostFacts, author: AuthorFacts): Verdict => {
  if (author.exempt) return noVerdict
  const hits: Array<Verdict["hits"][number]> = []
  let score = 0
  let reports = false
  let limits = false
  for (const rule of rules) {
    if (!rule.matchesPost(post) || !rule.holds(author, author.score + score)) continue
    hits.push(rule)
    if (rule.state !== "on") continue
    const { action } = rule
    if (action === "score") score += rule.score
    else if (action === "report") reports = true
    else if (action === "limit") limits = true
    else return { hits, score, reports, limits, end: action === "pass" ? undefined : action }
  }
  return { hits, score, reports, limits, end: undefined }
}
