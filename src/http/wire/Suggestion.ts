import { Schema } from "effect"
import { SuggestionSource } from "../../services/suggestions/Suggestions.ts"
import { Account } from "./Account.ts"

/**
 * A suggested account. An empty list of sources means that the caller interacted with it, for which Mastodon has no
 * name.
 */
export const Suggestion = Schema.Struct({
  source: Schema.Literals(["staff", "past_interactions", "global"]),
  sources: Schema.Array(SuggestionSource),
  account: Account
}).annotate({ identifier: "Suggestion" })
export type Suggestion = typeof Suggestion.Type

/** Returns the reason in its older form, which has a single value. */
export const legacySource = (interactedWith: boolean, sources: Suggestion["sources"]): Suggestion["source"] =>
  interactedWith || sources.includes("friends_of_friends") ? "past_interactions" : "global"
