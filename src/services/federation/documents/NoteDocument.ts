import { withInlineQuote } from "../../html/InlineQuote.ts"
import type { Emoji } from "../../instance/Emoji.ts"
import type { ServerConfig } from "../../instance/ServerConfig.ts"
import * as Urls from "../../instance/Urls.ts"
import type { StatusRecord } from "../../statuses/Statuses.ts"
import type { Written } from "../../statuses/Written.ts"
import * as LocalIds from "../LocalIds.ts"
import { addressing } from "./Addressing.ts"
import { attachmentDocument } from "./AttachmentDocument.ts"
import { emojiDocument } from "./EmojiDocument.ts"
import { policyDocument, policyTerms } from "./PolicyDocument.ts"
import { pollDocument } from "./PollDocument.ts"
import { quoteDocument, quoteTerms } from "./QuoteDocument.ts"
import { activityStreams, type Document, moment } from "./Vocabulary.ts"

/** Terms of notes that ActivityStreams does not have. */
const terms = {
  ostatus: "http://ostatus.org#",
  atomUri: "ostatus:atomUri",
  inReplyToAtomUri: "ostatus:inReplyToAtomUri",
  conversation: "ostatus:conversation",
  sensitive: "as:sensitive",
  Hashtag: "as:Hashtag",
  toot: "http://joinmastodon.org/ns#",
  Emoji: "toot:Emoji",
  focalPoint: { "@container": "@list", "@id": "toot:focalPoint" },
  blurhash: "toot:blurhash",
  votersCount: "toot:votersCount",
  FeaturedCollection: "https://w3id.org/fep/7aa9#FeaturedCollection",
  emojiReactions: { "@id": "http://fedibird.com/ns#emojiReactions", "@type": "@id" },
  ...policyTerms,
  ...quoteTerms
}
export const noteContext = [activityStreams, terms]

/** Properties of a note for each field that a status's author wrote. */
const writtenProperties: {
  readonly [Field in keyof Written]: (
    record: StatusRecord
  ) => { readonly [Word in keyof typeof terms | "summary" | "summaryMap" | "contentMap"]?: unknown }
} = {
  spoilerText: ({ language, spoilerText }) => ({
    summary: spoilerText === "" ? null : spoilerText,
    ...(language === null || spoilerText === "" ? {} : { summaryMap: { [language]: spoilerText } })
  }),
  sensitive: ({ sensitive, spoilerText }) => ({ sensitive: sensitive || spoilerText !== "" }),
  language: ({ html, language }) => language === null ? {} : { contentMap: { [language]: html } }
}

/** Maximum of the author's own replies that are embedded in a note. */
export const inlineRepliesMax = 5

/** Related objects and counts of a local status, by ActivityPub ids. */
export interface NoteRelations {
  /** Mentioned accounts that are addressed. */
  readonly mentioned: ReadonlyArray<{ readonly uri: string; readonly acct: string }>
  /**
   * Ids of remote accounts that an earlier version mentioned: they may read this one, too. If this version arrives
   * first, their server sees from the addressing that it is for them.
   */
  readonly readers: ReadonlyArray<string>
  /** Id of the consent to the reply, if consent was needed. */
  readonly consent: string | undefined
  /** Id of the post that it replies to; undefined if it is not a reply or the post is gone. */
  readonly inReplyTo: string | undefined
  readonly favourites: number
  readonly reblogs: number
  readonly reactions: number
  /** The author's first own replies. */
  readonly ownReplies: ReadonlyArray<bigint>
  /** Id of its thread, for servers that group posts by it. */
  readonly conversation: string
  /** Id of the collection of its thread's posts, if the thread began here with a public post. */
  readonly context: string | undefined
  /** Emoji that its texts use. */
  readonly emojis: ReadonlyArray<Emoji>
}

type Config = Pick<ServerConfig["Service"], "publicUrl" | "localDomain" | "mediaUrl">

const collection = (id: string, totalItems: number): Document => ({ id, type: "Collection", totalItems })

/** Returns a local status as a Note at `now` (milliseconds since 1970), without a context. */
export const noteDocument = (config: Config, record: StatusRecord, related: NoteRelations, now: number): Document => {
  const { actorPath, username } = record
  const [actor, id] = [LocalIds.actor(config, actorPath), LocalIds.note(config, actorPath, record.id)]
  const replies = LocalIds.replies(id)
  const quote = quoteDocument(config, record)
  // Includes a link to the quoted post, for servers that do not show quotes.
  const content = quote.link === undefined ? record.html : withInlineQuote(record.html, quote.link)
  // If there may be more of the author's own replies, the next page continues with them; otherwise with those of
  // others.
  const more = related.ownReplies.length < inlineRepliesMax ? undefined : related.ownReplies.at(-1)
  return {
    id,
    type: "Note",
    ...Object.assign({}, ...Object.values(writtenProperties).map((words) => words({ ...record, html: content }))),
    inReplyTo: related.inReplyTo ?? null,
    ...(related.consent === undefined || related.inReplyTo === undefined
      ? {}
      : { replyAuthorization: related.consent, approvedBy: related.consent }),
    published: moment(record.createdAt),
    ...(record.editedAt === null ? {} : { updated: moment(record.editedAt) }),
    url: Urls.status(config, username, record.id),
    attributedTo: actor,
    ...addressing(record.visibility, actor, [...related.mentioned.map(({ uri }) => uri), ...related.readers]),
    atomUri: id,
    inReplyToAtomUri: related.inReplyTo ?? null,
    conversation: related.conversation,
    ...(related.context === undefined ? {} : { context: related.context }),
    content,
    ...(record.source === null ? {} : { source: { content: record.source, mediaType: record.contentType } }),
    interactionPolicy: policyDocument(record, actor, related.mentioned.map(({ uri }) => uri)),
    ...quote.words,
    attachment: [
      ...record.media.flatMap((media) => attachmentDocument(config, media) ?? []),
      // The card shown here, so that other servers need not choose among the links.
      ...(record.card?.card ? [{ type: "Link", href: record.card.url }] : [])
    ],
    tag: [
      ...related.mentioned.map(({ acct, uri }) => ({ type: "Mention", href: uri, name: `@${acct}` })),
      ...record.tags.map((name) => ({ type: "Hashtag", href: Urls.tag(config, name), name: `#${name}` })),
      ...related.emojis.map((emoji) => emojiDocument(config, emoji)),
      ...record.collections.map(({ accountId, id, name, uri }) => ({
        type: "FeaturedCollection",
        id: uri ?? LocalIds.collection(config, BigInt(accountId), BigInt(id)),
        name
      })),
      ...quote.tag
    ],
    replies: {
      id: replies,
      type: "Collection",
      first: {
        type: "CollectionPage",
        partOf: replies,
        next: `${replies}?${more === undefined ? "only_other_accounts=true&page=true" : `page=true&min_id=${more}`}`,
        items: related.ownReplies.map((reply) => LocalIds.note(config, actorPath, reply))
      }
    },
    likes: collection(LocalIds.likes(id), related.favourites),
    shares: collection(LocalIds.shares(id), related.reblogs),
    ...(related.reactions > 0 ? { emojiReactions: LocalIds.emojiReactions(id) } : {}),
    ...(record.poll === null ? {} : pollDocument(record.poll, now))
  }
}

/** Returns the Create of a new status, which embeds the note. */
export const createDocument = (config: Config, record: StatusRecord, note: Document): Document => ({
  id: LocalIds.activity(LocalIds.note(config, record.actorPath, record.id)),
  type: "Create",
  actor: LocalIds.actor(config, record.actorPath),
  published: moment(record.createdAt),
  to: note["to"],
  cc: note["cc"],
  object: note
})

/** Returns the Announce of a reblog; `object` is the original's id and `author` its author's. */
export const announceDocument = (
  config: Config,
  record: StatusRecord,
  original: { readonly object: string; readonly author: string; readonly consent: string | undefined }
): Document => {
  const actor = LocalIds.actor(config, record.actorPath)
  const { cc, to } = addressing(record.visibility, actor, [])
  return {
    id: LocalIds.activity(LocalIds.note(config, record.actorPath, record.id)),
    type: "Announce",
    actor,
    published: moment(record.createdAt),
    to,
    cc: [original.author, ...cc],
    object: original.object,
    ...(original.consent === undefined
      ? {}
      : { announceAuthorization: original.consent, approvedBy: original.consent })
  }
}

/** Returns the placeholder of a deleted status. */
export const tombstone = (id: string): Document => ({ id, type: "Tombstone", atomUri: id })
