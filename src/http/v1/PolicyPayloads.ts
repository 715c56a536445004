import { Effect } from "effect"
import { type Unprocessable, validationFailed } from "../../services/Errors.ts"
import {
  type Audience,
  type Interaction,
  isFree,
  isSingleAccount,
  singlesMax,
  withPolicy
} from "../../services/statuses/InteractionPolicy.ts"
import type { PolicyGiven } from "../wire/InteractionPolicy.ts"

/* Policies as clients send them, in the words in which they are kept. */

const interactionOf = {
  canFavourite: "canLike",
  canReply: "canReply",
  canReblog: "canAnnounce",
  canQuote: "canQuote"
} as const

/** The author always may, and needs no word; undefined where a word is none. */
const audienceOf = (word: string): ReadonlyArray<Audience> | undefined => {
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

/** What a client says of replies, favourites, reblogs and quotes; none where it leaves all to everybody, undefined where it says nothing. */
export const policyWordsOf = Effect.fnUntraced(function*(given: PolicyGiven | undefined): Effect.fn.Return<
  ReadonlyArray<string> | undefined,
  Unprocessable
> {
  if (given === undefined) return undefined
  const said: Array<string> = []
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
    // Of quotes an author says something by default, too, which this is to change.
    if (words !== null && (interaction === "canQuote" || !isFree(words, interaction))) said.push(...words)
  }
  return said
})
