import { Effect, Schema } from "effect"
import { exceeds } from "../html/Text.ts"
import { type Unprocessable, validationFailed } from "../runtime/Errors.ts"
import { bounded } from "../text/BoundedText.ts"
import type { Conditions } from "./SpamRule.ts"
import { Lookalike, termCharactersMax, termsMax } from "./SpamRule.ts"
import { folded, spaced } from "./SpamText.ts"

/** Conditions as staff enter them; empty ones are ignored. */
export interface GivenConditions {
  readonly lists: Readonly<Partial<Record<ListName, ReadonlyArray<string> | undefined>>>
  readonly numbers: Readonly<Partial<Record<NumberName, number | undefined>>>
  readonly origin?: string | undefined
  readonly lookAlike?: ReadonlyArray<string> | undefined
  readonly avatarAlike?: ReadonlyArray<string> | undefined
}

export const listNames = ["textContains", "textWords", "linkDomains", "domains", "avatarAccounts"] as const
type ListName = (typeof listNames)[number]
export const numberNames = [
  "linksMin",
  "mentionsMin",
  "strangersMin",
  "accountHoursMax",
  "statusesMax",
  "followersMax",
  "hourlyPostsMin",
  "sameTextAccountsMin",
  "hourlyBoostsMin",
  "sameBoostAccountsMin",
  "scoreMin",
  "domainScoreMin"
] as const
type NumberName = (typeof numberNames)[number]

/** Maximum value of a number in a condition. */
const numberMax = 1_000_000

const isOrigin = Schema.is(Schema.Literals(["local", "remote"]))
const isLookalike = Schema.is(Lookalike)
const domain = /^(?=.{1,253}$)[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63})*$/

/** Normalises a domain to lower case and ASCII. */
const domainOf = (given: string): string => {
  const text = given.trim().toLowerCase().replace(/^\*?\./, "")
  return URL.parse(`https://${text}/`)?.hostname ?? text
}

/** Normalises an account handle: `name` for a local account, otherwise `name@domain`. */
const handleOf = (given: string): string => given.trim().toLowerCase().replace(/^@/, "")
const handle = /^[\p{L}\p{N}_.-]{1,100}(?:@[\p{L}\p{N}.-]{1,95})?$/u

const terms = (
  given: ReadonlyArray<string> | undefined
) => [...new Set((given ?? []).map((one) => one.trim()).filter((one) => one !== ""))]

/** Validates the conditions that staff entered and drops empty ones. */
export const checkConditions = Effect.fnUntraced(
  function*(given: GivenConditions): Effect.fn.Return<Conditions, Unprocessable> {
    const found: { -readonly [Name in keyof Conditions]: Conditions[Name] } = {}
    for (const name of listNames) {
      const isOfDomains = name === "linkDomains" || name === "domains"
      const written = given.lists[name]
      const list = terms(
        isOfDomains ? written?.map(domainOf) : name === "avatarAccounts" ? written?.map(handleOf) : written
      )
      if (list.length === 0) continue
      if (list.length > termsMax) return yield* validationFailed(`Conditions are too many (maximum is ${termsMax})`)
      const blank = (term: string) =>
        isOfDomains
          ? !domain.test(term)
          : name === "avatarAccounts"
          ? !handle.test(term)
          : (name === "textWords" ? spaced(folded(bounded(term))) : folded(bounded(term))).trim() === ""
      if (list.some((term) => exceeds(term, termCharactersMax) || blank(term))) {
        return yield* validationFailed("Conditions is invalid")
      }
      found[name] = list
    }
    for (const name of numberNames) {
      const number = given.numbers[name]
      if (number === undefined) continue
      if (number < 0 || number > numberMax) return yield* validationFailed("Conditions is invalid")
      found[name] = number
    }
    const { avatarAlike = [], lookAlike = [], origin = "" } = given
    if (origin !== "" && !isOrigin(origin)) return yield* validationFailed("Conditions is invalid")
    if (isOrigin(origin)) found.origin = origin
    if (![...lookAlike, ...avatarAlike].every(isLookalike)) return yield* validationFailed("Conditions is invalid")
    if (lookAlike.length > 0) found.lookAlike = [...new Set(lookAlike.filter(isLookalike))]
    if (avatarAlike.length > 0) found.avatarAlike = [...new Set(avatarAlike.filter(isLookalike))]
    // A rule without conditions would match every post.
    return Object.keys(found).length === 0 ? yield* validationFailed("Conditions can't be blank") : found
  }
)
