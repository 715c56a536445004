import { addressesInHtml, taggedCollectionsMax } from "../../cards/StatusLinks.ts"
import { makeByteLimit } from "../../html/ByteLimit.ts"
import { normalise } from "../../html/HashtagNames.ts"
import { statusBytesMax } from "../../instance/ContentLimits.ts"
import { momentMillisMin, momentOf } from "../../runtime/Moments.ts"
import type { StoredStatus } from "../../statuses/StoredStatus.ts"
import type { Written } from "../../statuses/Written.ts"
import { bounded } from "../../text/BoundedText.ts"
import { visibilityOf } from "./Addressing.ts"
import { type ForeignEmoji, foreignEmojis } from "./ForeignEmoji.ts"
import { type ForeignAttachment, foreignAttachments } from "./ForeignMedia.ts"
import { digestOf, otherKinds, pageOf, summaryCharactersMax, withFile } from "./ForeignPage.ts"
import { type ForeignPoll, foreignPoll } from "./ForeignPoll.ts"
import {
  asForeign,
  asList,
  asText,
  countOf,
  type Foreign,
  idOf,
  idsOf,
  type ReadUrl,
  typeOf,
  worded
} from "./ForeignValues.ts"
import { stampNamed } from "./InteractionDocument.ts"
import { foreignPolicy } from "./PolicyDocument.ts"
import { type ForeignQuote, foreignQuote } from "./QuoteDocument.ts"

/** Maximum characters of a post's HTML; the rest is cut (row 39). */
export const contentCharactersMax = statusBytesMax
/** Maximum mentions and hashtags that are read. */
export const mentionsMax = 100
export const hashtagsMax = 50
/** Maximum characters of an attached link. */
const linkCharactersMax = 4_096
/** Maximum milliseconds in the future that a post may be dated; it then gets the current time (row 81). */
export const futureMillisMax = 24 * 3_600_000

/** Remote post; every value was validated and truncated. */
export interface ForeignNote extends Written, Pick<StoredStatus, "html" | "interactionPolicy" | "visibility"> {
  readonly uri: string
  readonly url: string
  readonly inReplyTo: string | undefined
  /** Milliseconds since 1970, never later than now. */
  readonly publishedMillis: number
  /** Time of the last edit, in milliseconds since 1970; undefined if unstated. */
  readonly updatedMillis: number | undefined
  /** Ids of mentioned accounts, and of everything in `to` and `cc`. */
  readonly mentioned: ReadonlyArray<string>
  readonly addressed: ReadonlyArray<string>
  readonly tags: ReadonlyArray<{ readonly name: string; readonly displayName: string }>
  readonly attachments: ReadonlyArray<ForeignAttachment>
  /**
   * URLs that it links to; the attached one, for which its author's server shows a card, precedes those in its text.
   */
  readonly links: ReadonlyArray<string>
  readonly poll: ForeignPoll | undefined
  readonly emojis: ReadonlyArray<ForeignEmoji>
  readonly quote: ForeignQuote | undefined
  /** Ids of the collections of accounts that the note names. */
  readonly collections: ReadonlyArray<string>
  /** Id of the consent to the reply; undefined if the note names none. */
  readonly authorization: string | undefined
  /** Numbers of favourites and reblogs, as stated by its origin. */
  readonly favourites: number | undefined
  readonly reblogs: number | undefined
}

const tagsOf = (note: Foreign, type: string) =>
  asList(note["tag"]).flatMap((item) => {
    const tag = asForeign(item)
    return tag !== undefined && typeOf(tag, type) !== undefined ? [tag] : []
  })

const hashtags = (note: Foreign) => {
  const named = tagsOf(note, "Hashtag").flatMap((tag) => {
    const displayName = (asText(tag["name"], 256) ?? "").replace(/^#/, "")
    const name = normalise(bounded(displayName))
    return name === "" ? [] : [[name, { name, displayName }] as const]
  })
  return [...new Map(named).values()].slice(0, hashtagsMax)
}

/** Maximum links tried for a preview card. */
const linksMax = 20

/**
 * Returns the URLs that a note links to. The author's server shows a card of the attached one (federation.md section
 * 9).
 */
const linksOf = (note: Foreign, html: string, mentioned: ReadonlyArray<string>): ReadonlyArray<string> => {
  const attached = asList(note["attachment"]).flatMap((item) => {
    const link = asForeign(item)
    return link !== undefined && typeOf(link, "Link") !== undefined ? asText(link["href"], linkCharactersMax) ?? [] : []
  })
  return [...attached, ...addressesInHtml(html)].filter((address) => !mentioned.includes(address)).slice(0, linksMax)
}

/** Returns a collection's stated total, if any. */
const totalOf = (collection: unknown) => countOf(asForeign(collection)?.["totalItems"])

/**
 * Parses a post that `author` is known to have sent; undefined if it is not the author's own or not readable.
 * `followers` is the author's collection; `now` is in milliseconds since 1970.
 */
export const foreignNote = (
  note: Foreign,
  author: { readonly uri: string; readonly followersUrl: string | null },
  now: number,
  readUrl: ReadUrl
): ForeignNote | undefined => {
  const id = readUrl(note["id"])
  if (id === undefined || id.href !== note["id"] || id.origin !== URL.parse(author.uri)?.origin) return undefined
  const other = typeOf(note, ...otherKinds)
  if ((typeOf(note, "Note", "Question") ?? other) === undefined || !idsOf(note["attributedTo"]).includes(author.uri)) {
    return undefined
  }
  const published = momentOf(note["published"]) ?? now
  if (published > now + futureMillisMax) return undefined
  const stated = momentOf(note["updated"])
  // A future date is brought back to now; equal dates would then differ at the next fetch.
  const updated = published > now && stated !== undefined && stated <= published ? undefined : stated
  const to = idsOf(note["to"])
  const cc = idsOf(note["cc"])
  const url = pageOf(note, id, readUrl)
  const room = makeByteLimit(statusBytesMax)
  const asked = foreignPoll(note, now)
  const poll = asked && { ...asked, options: room.members(asked.options, (option) => [option]) }
  const { language, text } = worded(note, "content", contentCharactersMax)
  const spoiler = worded(note, "summary", summaryCharactersMax)
  const warning = other === undefined ? room.text(spoiler.text) : ""
  const html = other === undefined ? room.html(text) : room.html(digestOf(note, url))
  const mentioned = tagsOf(note, "Mention").flatMap((tag) => idOf(tag["href"]) ?? []).slice(0, mentionsMax)
  return {
    uri: id.href,
    url,
    html,
    spoilerText: warning,
    sensitive: note["sensitive"] === true || warning !== "",
    visibility: visibilityOf({ to, cc }, author.followersUrl ?? undefined),
    language: language ?? spoiler.language,
    inReplyTo: idOf(note["inReplyTo"]),
    publishedMillis: Math.min(published, now),
    updatedMillis: updated === undefined || updated === momentMillisMin ? undefined : Math.min(updated, now),
    mentioned,
    addressed: [...to, ...cc],
    tags: room.members(hashtags(note), ({ displayName, name }) => [name, displayName]),
    attachments: foreignAttachments(other === undefined ? note : withFile(note, other), readUrl, room.text),
    favourites: totalOf(note["likes"]),
    reblogs: totalOf(note["shares"]),
    links: linksOf(note, html, mentioned),
    poll,
    quote: foreignQuote(note, readUrl),
    collections: [...new Set(tagsOf(note, "FeaturedCollection").flatMap((tag) => readUrl(tag["id"])?.href ?? []))]
      .slice(0, taggedCollectionsMax),
    interactionPolicy: foreignPolicy(note, author),
    authorization: stampNamed("reply", note),
    emojis: foreignEmojis(note, readUrl)
  }
}
