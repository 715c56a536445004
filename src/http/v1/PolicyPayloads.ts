import { Effect } from "effect"
import { type Unprocessable, validationFailed } from "../../services/runtime/Errors.ts"
import {
  type Interaction,
  isOpenToAll,
  isSingleAccount,
  type PolicyEntry,
  singlesMax,
  withPolicy
} from "../../services/statuses/InteractionPolicy.ts"
import type { PolicyGiven } from "../wire/InteractionPolicy.ts"

/* Converts interaction policies of requests to the words that are stored. */

const interactionOf = {
  canFavourite: "canLike",
  canReply: "canReply",
  canReblog: "canAnnounce",
  canQuote: "canQuote"
} as const

/**
 * Returns the stored audience for a keyword of the API; undefined if the keyword is unknown. `author` and `me` give an
 * empty audience, because authors are always allowed.
 */
const audienceOf = (word: string): ReadonlyArray<PolicyEntry> | undefined => {
  switch (word) {
    case "author":
    case "me":
      return []
    case "public":
    case "followers":
    case "following":
    case "mutuals":
    case "mentioned":
      return [word]
    default:
      return isSingleAccount(word) ? [word] : undefined
  }
}

const notIncluded = validationFailed("Interaction policy is not included in the list")

const audiences = Effect.fnUntraced(function*(words: ReadonlyArray<string>) {
  const found = [...new Set(words)].map(audienceOf)
  const known = found.flatMap((each) => each ?? [])
  if (found.includes(undefined) || found.length > singlesMax) return yield* notIncluded
  return known
})

/** Returns the stored words of a policy: empty if it allows everything, undefined if the client sends no policy. */
export const policyEntriesOf = Effect.fnUntraced(function*(given: PolicyGiven | undefined): Effect.fn.Return<
  ReadonlyArray<string> | undefined,
  Unprocessable
> {
  if (given === undefined) return undefined
  const entries: Array<string> = []
  const all: ReadonlyArray<readonly [Interaction, PolicyGiven & object extends infer P ? P[keyof P] : never]> = [
    [interactionOf.canReply, given.canReply],
    [interactionOf.canFavourite, given.canFavourite],
    [interactionOf.canReblog, given.canReblog],
    [interactionOf.canQuote, given.canQuote]
  ]
  for (const [interaction, rules] of all) {
    if (rules === undefined || Object.keys(rules).length === 0) continue
    const automatic = yield* audiences(rules.automaticApproval ?? rules.always ?? [])
    const manual = yield* audiences(rules.manualApproval ?? rules.withApproval ?? [])
    const words = withPolicy(null, interaction, { automatic, manual })
    // Quotes are always written: authors have a default quote policy, which this overrides.
    if (words !== null && (interaction === "canQuote" || !isOpenToAll(words, interaction))) entries.push(...words)
  }
  return entries
})
