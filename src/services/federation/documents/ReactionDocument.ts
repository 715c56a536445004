import { customName } from "../../statuses/ReactionEmoji.ts"
import type { Activity } from "./Activities.ts"
import { activityTypeOf } from "./ActivityTypes.ts"
import { foreignEmojis } from "./ForeignEmoji.ts"
import { asForeign, asList, asText, type Foreign, idOf, type ReadUrl } from "./ForeignValues.ts"
import { activityStreams, type Document } from "./Vocabulary.ts"

/* Emoji reactions: as in FEP-c0e0, and as a Like in Misskey's form. */

const context = [activityStreams, {
  litepub: "http://litepub.social/ns#",
  EmojiReact: "litepub:EmojiReact",
  toot: "http://joinmastodon.org/ns#",
  Emoji: "toot:Emoji"
}]

/** Maximum characters of a remote reaction; a custom emoji is named with its domain. */
const contentCharactersMax = 400

/** A reaction to a post, by ids and with the emoji as written. */
export interface ReactionOf {
  readonly id: string
  readonly type: "EmojiReact" | "Like"
  readonly actor: string
  readonly object: string
  readonly content: string
  /** Custom emoji, if any. */
  readonly tag: Document | undefined
}

const reactionObject = ({ tag, ...reaction }: ReactionOf): Document => ({
  ...reaction,
  ...(tag === undefined ? {} : { tag: [tag] })
})

/** Returns the activity, addressed only to the post's author. */
export const react = (reaction: ReactionOf, author: string): Activity => ({
  type: reaction.type,
  uri: reaction.id,
  document: { "@context": context, ...reactionObject(reaction), to: [author] }
})

/** Returns the collection of a post's reactions. */
export const reactionCollection = (id: string, reactions: ReadonlyArray<ReactionOf>, totalItems: number): Document => ({
  "@context": context,
  id,
  type: "Collection",
  totalItems,
  items: reactions.map(reactionObject)
})

/** Returns a remote activity's emoji as written; undefined for a plain Like. */
export const contentOf = (activity: Foreign): string | undefined => {
  const words = [activity["_misskey_reaction"], activity["content"]]
  const contents = activityTypeOf(activity) === "EmojiReact" ? words.toReversed() : words
  const content = contents.map((one) => asText(one, contentCharactersMax + 1)?.trim()).find((one) => one)
  return content === undefined || content.length > contentCharactersMax ? undefined : content
}

/**
 * Returns the custom emoji that an activity defines for its `content`: the emoji with its picture, and the host that
 * its id claims.
 */
export const emojiOf = (activity: Foreign, content: string, readUrl: ReadUrl) => {
  const shortcode = customName(content)?.shortcode
  const emoji = foreignEmojis(activity, readUrl).find((one) => one.shortcode === shortcode)
  if (emoji === undefined) return undefined
  const tag = asList(activity["tag"]).map(asForeign).find((one) => one?.["name"] === `:${emoji.shortcode}:`)
  return { emoji, origin: URL.parse(idOf(tag) ?? "")?.host }
}
