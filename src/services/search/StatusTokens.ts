import { Schema } from "effect"
import { addressesInHtml } from "../cards/StatusLinks.ts"
import { plainText } from "../html/PlainText.ts"
import { textsOf, WrittenTexts } from "../statuses/Written.ts"
import { bounded } from "../text/BoundedText.ts"
import { searchParts, tokensOf } from "./SearchText.ts"
import { dictionaryOf, languageOf } from "./Stemmers.ts"
import type { LanguageWord, Stems } from "./Stems.ts"
import { timeSlotTokens } from "./TimeWindows.ts"
import * as Token from "./TokenQuery.ts"

/** Maximum characters and positions of a post that are indexed; the rest cannot be found. */
const postCharactersMax = 20_000
const placesMax = 4_000
/** Maximum letters of a post's words: some characters expand to many. */
const lettersMax = 60_000
/** Gap between the parts of a post, in positions, so that no phrase matches across them. */
const gapPlaces = 8

/** Searchable data of a post, and who may find it. */
export const SearchedStatus = Schema.Struct({
  id: Schema.BigInt,
  accountId: Schema.BigInt,
  html: Schema.String,
  ...WrittenTexts.fields,
  language: Schema.NullOr(Schema.String),
  sensitive: Schema.Boolean,
  isReply: Schema.Boolean,
  isQuote: Schema.Boolean,
  /** Everyone who may see it may find it. */
  findable: Schema.Boolean,
  /** A local user wrote it, is mentioned in it, or marked it. */
  involvesLocal: Schema.Boolean,
  /** Local accounts. */
  mentionIds: Schema.Array(Schema.String),
  tags: Schema.Array(Schema.String),
  mediaTypes: Schema.Array(Schema.String),
  descriptions: Schema.Array(Schema.String),
  /** Null without a poll. */
  options: Schema.NullOr(Schema.Array(Schema.String)),
  /** Type of its preview card; null without one. */
  cardType: Schema.NullOr(Schema.String)
})
export type SearchedStatus = typeof SearchedStatus.Type

/** A tokenised post, before stemming. */
interface TokenisedStatus {
  readonly id: bigint
  readonly html: string
  /** Undefined if Postgres has no stemmer for its language. */
  readonly stemmedIn: string | undefined
  readonly words: ReadonlyArray<LanguageWord>
  readonly tokens: (stems: Stems) => string
}

const propertiesOf = (status: SearchedStatus): ReadonlyArray<string> => {
  const { cardType, html, isQuote, isReply, mediaTypes, options, sensitive } = status
  const has = (...types: ReadonlyArray<string>) => mediaTypes.some((type) => types.includes(type))
  const are: Readonly<Record<string, boolean>> = {
    media: mediaTypes.length > 0,
    image: has("image"),
    video: has("video", "gifv"),
    audio: has("audio"),
    poll: options !== null,
    link: cardType !== null || addressesInHtml(html).length > 0,
    embed: cardType === "video",
    reply: isReply,
    quote: isQuote,
    sensitive
  }
  return Object.entries(are).flatMap(([property, holds]) => holds ? [Token.propertyToken(property)] : [])
}

/** Returns the tokens of stems that differ from their words. */
const stemsOf = (language: string, words: ReadonlyMap<string, string>, stems: Stems) => {
  const tokens = Array.from(words).flatMap(([word, plain]) =>
    (stems({ language, word }) ?? []).filter((stem) => stem !== plain).map((stem) => Token.stemToken(language, stem))
  )
  return new Set(tokens)
}

const prefixTokens = (words: ReadonlyMap<string, string>) =>
  new Set(Array.from(words.values()).flatMap((plain) => Token.prefixToken(plain) ?? []))

/** Tokenises a post. */
export const tokenise = (status: SearchedStatus): TokenisedStatus => {
  const { accountId, descriptions, findable, html, id, mentionIds, options, tags } = status
  const language = status.language === null ? undefined : languageOf(status.language)
  const stemmed = language !== undefined && dictionaryOf(language) !== undefined
  const places = new Map<string, Array<number>>()
  const wordOffsets = new Map<string, string>()
  let place = 1
  let room = postCharactersMax
  let letters = 0
  for (const text of [...textsOf(status), plainText(bounded(html)), ...options ?? [], ...descriptions]) {
    for (const part of searchParts(bounded(text.slice(0, room)))) {
      if (place > placesMax || letters > lettersMax) break
      const found = tokensOf(part)
      letters += part.kind === "word" ? part.word.length : 2 * part.letters.length
      for (const { offset, token } of found.tokens) {
        const before = places.get(token)
        if (before === undefined) places.set(token, [place + offset])
        else before.push(place + offset)
      }
      if (part.kind === "word") wordOffsets.set(part.word, part.plain)
      place += found.places
    }
    room = Math.max(0, room - text.length)
    place += gapPlaces
  }
  const plainTokens = Array.from(places, ([token, at]) => `${Token.quoted(token)}:${at.slice(0, 255).join(",")}`)
  const others = [
    Token.authorToken(accountId),
    ...findable ? [Token.publicToken] : [],
    ...mentionIds.map((mentioned) => Token.mentionToken(BigInt(mentioned))),
    ...tags.map(Token.hashtagToken),
    ...language === undefined ? [] : [Token.languageToken(language)],
    ...propertiesOf(status),
    ...timeSlotTokens(id)
  ]
  return {
    id,
    html,
    stemmedIn: stemmed ? language : undefined,
    words: stemmed ? Array.from(wordOffsets.keys(), (word) => ({ language, word })) : [],
    tokens: (stems) =>
      [
        ...plainTokens,
        ...[...others, ...stemmed ? stemsOf(language, wordOffsets, stems) : prefixTokens(wordOffsets)].map(Token.quoted)
      ].join(" ")
  }
}
