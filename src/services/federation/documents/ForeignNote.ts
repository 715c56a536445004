import { addressesInHtml, taggedCollectionsMax } from "../../cards/StatusLinks.ts"
import { makeByteLimit } from "../../html/ByteLimit.ts"
import { normalise } from "../../html/HashtagNames.ts"
import { statusBytesMax } from "../../instance/ContentLimits.ts"
import { momentMillisMin, momentOf } from "../../Moments.ts"
import type { StoredStatus } from "../../statuses/StoredStatus.ts"
import type { Written } from "../../statuses/Written.ts"
import { bounded } from "../../text/BoundedText.ts"
import { visibilityOf } from "./Addressing.ts"
import { type ForeignEmoji, foreignEmojis } from "./ForeignEmoji.ts"
import { type ForeignAttachment, foreignAttachments } from "./ForeignMedia.ts"
import { digestOf, otherKinds, pageOf, summaryCharactersMax, withFile } from "./ForeignPage.ts"
import { type ForeignPoll, foreignPoll } from "./ForeignPoll.ts"
import { stampNamed } from "./InteractionDocument.ts"
import { foreignPolicy } from "./PolicyDocument.ts"
import { type ForeignQuote, foreignQuote } from "./QuoteDocument.ts"
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
} from "./Reading.ts"

/** Characters of a post's HTML that are read; the rest is cut (row 39). */
export const contentCharactersMax = statusBytesMax
/** Mentions and hashtags that are heeded. */
export const mentionsMax = 100
export const hashtagsMax = 50
/** Characters of an attached link. */
const linkCharactersMax = 4_096
/** How far in the future a post may be dated, in milliseconds; it is dated now then (row 81). */
export const futureMillisMax = 24 * 3_600_000

/** A post of another server; everything in it was checked and cut to size. */
export interface ForeignNote extends Written, Pick<StoredStatus, "html" | "interactionPolicy" | "visibility"> {
  readonly uri: string
  readonly url: string
  readonly inReplyTo: string | undefined
  /** Milliseconds since 1970, never later than now. */
  readonly publishedMillis: number
  /** The same of its last edit; undefined where it says nothing of one. */
  readonly updatedMillis: number | undefined
  /** Ids of the accounts that the text names, and of all that it is addressed to. */
  readonly mentioned: ReadonlyArray<string>
  readonly addressed: ReadonlyArray<string>
  readonly tags: ReadonlyArray<{ readonly name: string; readonly displayName: string }>
  readonly attachments: ReadonlyArray<ForeignAttachment>
  /** Addresses that it links to, the one that its author's server has a card of before those in its text. */
  readonly links: ReadonlyArray<string>
  readonly poll: ForeignPoll | undefined
  readonly emojis: ReadonlyArray<ForeignEmoji>
  readonly quote: ForeignQuote | undefined
  /** Ids of the collections of accounts that it names. */
  readonly collections: ReadonlyArray<string>
  /** The id of the consent to be a reply, if it names one. */
  readonly authorization: string | undefined
  /** How many like and share it, as its origin says. */
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

/** Links that are looked at for one that has a card. */
const linksMax = 20

/** Addresses that a note links to; an attached one is what its author's server shows a card of (federation.md section 9). */
const linksOf = (note: Foreign, html: string, mentioned: ReadonlyArray<string>): ReadonlyArray<string> => {
  const attached = asList(note["attachment"]).flatMap((item) => {
    const link = asForeign(item)
    return link !== undefined && typeOf(link, "Link") !== undefined ? asText(link["href"], linkCharactersMax) ?? [] : []
  })
  return [...attached, ...addressesInHtml(html)].filter((address) => !mentioned.includes(address)).slice(0, linksMax)
}

/** How many there are, as the origin says; undefined where the document says nothing of it. */
const totalOf = (collection: unknown) => countOf(asForeign(collection)?.["totalItems"])

/**
 * The post in a document that `author` is known to have sent; undefined where it is none of its own, or one that we
 * cannot read. `followers` is the author's collection, `now` in milliseconds since 1970.
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
  // A date ahead is brought back to now, so that equal ones would differ at the next look.
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
