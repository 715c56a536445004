import { LinkifyIt } from "linkify-it"
import { domainToASCII } from "node:url"

/** Token of a post's source; the `text` of all tokens in order is the source. */
export type Token =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "url"; readonly text: string }
  /** `domain` as written; absent in `@user`. */
  | { readonly kind: "mention"; readonly text: string; readonly username: string; readonly domain: string | undefined }
  /** `name` as written, without the sign. */
  | { readonly kind: "hashtag"; readonly text: string; readonly name: string }

/** Maximum characters of a URL; longer ones stay plain text. */
const urlCharactersMax = 2_048
/** Maximum characters of a hashtag, user or domain; longer ones stay plain text. */
const nameCharactersMax = 255

/**
 * Finds URLs, mentions and hashtags as Mastodon does. Every candidate reads only what it consumes, or a bounded window,
 * so the time is linear in the source's length.
 */
export const tokens = (source: string): ReadonlyArray<Token> => {
  const found: Array<Token> = []
  let end = 0
  candidates.lastIndex = 0
  for (let start = candidates.exec(source); start !== null; start = candidates.exec(source)) {
    const token = tokenAt(source, start.index)
    if (token === undefined) {
      candidates.lastIndex = start.index + 1
      continue
    }
    if (start.index > end) found.push({ kind: "text", text: source.slice(end, start.index) })
    found.push(token)
    end = candidates.lastIndex = start.index + token.text.length
  }
  if (end < source.length) found.push({ kind: "text", text: source.slice(end) })
  return found
}

/** Returns the key of a mention's account: lower case, the domain in ASCII, `user` or `user@domain`. */
export const handle = (username: string, domain: string | undefined): string =>
  domain === undefined
    ? username.toLowerCase()
    : `${username.toLowerCase()}@${domainToASCII(domain) || domain.toLowerCase()}`

/** Regular expression source for the start of a URL (Mastodon's config/initializers/twitter_regex.rb). */
export const addressStart = String.raw`(?:https?|dat|dweb|ipfs|ipns|ssb|gopher|gemini):\/\/|xmpp:|magnet:\?`

const candidates = new RegExp(`[@#＃]|${addressStart}`, "gi")

/** Returns the URL, mention or hashtag that begins at an index. */
export const tokenAt = (source: string, index: number): Token | undefined => {
  switch (source[index]) {
    case "@":
      return mentionAt(source, index)
    case "#":
    case "＃":
      return hashtagAt(source, index)
    default:
      return urlAt(source, index)
  }
}

/** Returns the code point that ends right before `index`, or an empty string. */
const before = (source: string, index: number): string => {
  const low = source.charCodeAt(index - 1)
  return index === 0 ? "" : source.slice(low >= 0xdc00 && low <= 0xdfff ? index - 2 : index - 1, index)
}

const matchAt = (pattern: RegExp, source: string, index: number): RegExpExecArray | null => {
  pattern.lastIndex = index
  return pattern.exec(source)
}

/*
 * An IP address as a domain may have a port, as in a lab of servers on one machine. The rest uses Ruby's [[:word:]]
 * (letters, marks, decimal digits, connector punctuation), as Mastodon's patterns do: Account::MENTION_RE,
 * Tag::HASHTAG_RE and twitter-text's lookaheads.
 */
const mention =
  /@([a-z0-9_]+(?:[.-]+[a-z0-9_]+)*)(?:@((?:\d{1,3}(?:\.\d{1,3}){3}|localhost):\d{2,5}|[\p{L}\p{M}\p{Nd}\p{Pc}]+(?:[.-]+[\p{L}\p{M}\p{Nd}\p{Pc}]+)*))?/iuy
const mentionBefore = /[=/\p{L}\p{M}\p{Nd}\p{Pc}]/u
const mentionAfter = /[@＠\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f]|:\/\//y

const mentionAt = (source: string, index: number): Token | undefined => {
  if (mentionBefore.test(before(source, index))) return undefined
  const match = matchAt(mention, source, index)
  if (match === null || matchAt(mentionAfter, source, mention.lastIndex) !== null) return undefined
  const [text, username = "", domain] = match
  if (username.length > nameCharactersMax || (domain?.length ?? 0) > nameCharactersMax) return undefined
  return { kind: "mention", text, username, domain }
}

const hashtagRun = /[\p{L}\p{M}\p{Nd}\p{Pc}\u00b7\u30fb\u200c]+/uy
const hashtagBefore = /[=/)\p{Alphabetic}\p{Nd}]/u
const hashtagAfter = /[#＃]|:\/\//y
const separatorsAtEnd = /[\u00b7\u30fb\u200c]$/u
/** Requires a letter anywhere, or a separator between two other characters. */
const hashtagName = /^(?![\u00b7\u30fb\u200c])(?:.*\p{Alphabetic}|.+[_\u00b7\u30fb\u200c].)/u

const hashtagAt = (source: string, index: number): Token | undefined => {
  if (hashtagBefore.test(before(source, index))) return undefined
  let name = matchAt(hashtagRun, source, index + 1)?.[0] ?? ""
  if (name.length > nameCharactersMax) return undefined
  while (separatorsAtEnd.test(name)) name = name.slice(0, -1)
  if (!hashtagName.test(name) || matchAt(hashtagAfter, source, index + 1 + name.length) !== null) return undefined
  return { kind: "hashtag", text: source.slice(index, index + 1 + name.length), name }
}

const linkify = new LinkifyIt({ fuzzyEmail: false, maxLength: urlCharactersMax })
const urlBefore = /[A-Za-z0-9@＠$#＃]/
const schemeWithHost = /(?:https?|dat|dweb|ipfs|ipns|ssb|gopher|gemini):(?=\/\/)/iy
const hostWithDot = /^\/\/(?:[^/?#]*\.|\[)/
/** XMPP URI (RFC 5122): `user@host`, optionally with a resource and a query. */
const chat = /xmpp:[^\s@/?<>"]{1,255}@[^\s@/?<>"]{1,255}(?:\/[^\s?<>"]{1,255})?(?:\?[^\s<>"()]{1,1000})?/iy
const magnet = /magnet:\?(?:[^\s<>"&()]{1,500}&){0,5}xt=urn:[^\s<>"()]{1,1000}/iy

const urlAt = (source: string, index: number): Token | undefined => {
  if (urlBefore.test(before(source, index))) return undefined
  const text = matchAt(chat, source, index)?.[0] ?? matchAt(magnet, source, index)?.[0] ?? withHostAt(source, index)
  return text === undefined ? undefined : { kind: "url", text: withoutPunctuation(text) }
}

const withHostAt = (source: string, index: number): string | undefined => {
  const prefix = matchAt(schemeWithHost, source, index)?.[0]
  if (prefix === undefined) return undefined
  const window = source.slice(index + prefix.length, index + prefix.length + urlCharactersMax)
  const rest = window.slice(0, linkify.testSchemaAt(window, "https:", 0))
  const complete = prefix.toLowerCase().startsWith("http") ? hostWithDot.test(rest) : rest.length > "//".length
  return complete ? prefix + rest : undefined
}

const endOfPath = /[^!*"'<>;:=,.$%[\]~&|@?]/
const endOfQuery = /[\p{L}\p{M}\p{N}_&=#/)-]/u

/**
 * Removes the punctuation of the sentence or markup around a URL. A path ends as in Mastodon; a query ends in a letter,
 * a digit or one of `_&=#/-` (valid_url_path_ending_chars and valid_url_query_ending_chars in twitter-text), or a
 * parenthesis.
 */
const withoutPunctuation = (url: string): string => {
  const mayEnd = url.includes("?") ? endOfQuery : endOfPath
  let end = url.length
  while (end > 0 && !mayEnd.test(before(url, end))) end -= before(url, end).length
  return url.slice(0, end)
}
