import { customName } from "../../statuses/ReactionEmoji.ts"
import type { Activity } from "./Activities.ts"
import { activityTypeOf } from "./ActivityTypes.ts"
import { foreignEmojis } from "./ForeignEmoji.ts"
import { asForeign, asList, asText, type Foreign, idOf, type ReadUrl } from "./Reading.ts"
import { activityStreams, type Document } from "./Vocabulary.ts"

/* Reactions with emoji, as FEP-c0e0 has them and Misskey says them in a Like. */

const context = [activityStreams, {
  litepub: "http://litepub.social/ns#",
  EmojiReact: "litepub:EmojiReact",
  toot: "http://joinmastodon.org/ns#",
  Emoji: "toot:Emoji"
}]

/** Characters of what others react with; a custom emoji is named with its domain. */
const contentCharactersMax = 400

/** A reaction to a post, by ids and with the emoji as it is written. */
export interface ReactionOf {
  readonly id: string
  readonly type: "EmojiReact" | "Like"
  readonly actor: string
  readonly object: string
  readonly content: string
  /** A custom emoji. */
  readonly tag: Document | undefined
}

const reactionObject = ({ tag, ...reaction }: ReactionOf): Document => ({
  ...reaction,
  ...(tag === undefined ? {} : { tag: [tag] })
})

/** The activity, for the post's author alone. */
export const react = (reaction: ReactionOf, author: string): Activity => ({
  type: reaction.type,
  uri: reaction.id,
  document: { "@context": context, ...reactionObject(reaction), to: [author] }
})

/** All of them that a post has. */
export const reactionCollection = (id: string, reactions: ReadonlyArray<ReactionOf>, totalItems: number): Document => ({
  "@context": context,
  id,
  type: "Collection",
  totalItems,
  items: reactions.map(reactionObject)
})

/** What another server's activity reacts with, as it is written; undefined for a Like without more. */
export const contentOf = (activity: Foreign): string | undefined => {
  const words = [activity["_misskey_reaction"], activity["content"]]
  const said = activityTypeOf(activity) === "EmojiReact" ? words.toReversed() : words
  const content = said.map((one) => asText(one, contentCharactersMax + 1)?.trim()).find((one) => one)
  return content === undefined || content.length > contentCharactersMax ? undefined : content
}

/** The custom emoji that an activity brings for its `content`: how its picture is known, and whose it says that it is. */
export const emojiOf = (activity: Foreign, content: string, readUrl: ReadUrl) => {
  const shortcode = customName(content)?.shortcode
  const emoji = foreignEmojis(activity, readUrl).find((one) => one.shortcode === shortcode)
  if (emoji === undefined) return undefined
  const tag = asList(activity["tag"]).map(asForeign).find((one) => one?.["name"] === `:${emoji.shortcode}:`)
  return { emoji, origin: URL.parse(idOf(tag) ?? "")?.host }
}
