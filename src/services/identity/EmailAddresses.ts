import { domainToASCII } from "node:url"

/** In characters (RFC 5321, 4.5.3.1; the whole by Mastodon's limit). */
export const emailCharactersMax = 320
const localPartCharactersMax = 64
const domainCharactersMax = 253

/*
 * The addresses that people have, not all that RFC 5322 allows: no quotes, comments, routes, address literals or
 * characters outside ASCII in the local part. Those have let one person in several times, or past a blocked domain. A
 * host without a dot is one of the operator's own network.
 */
const localPart = /^[a-z0-9_+\-'&=~#$*/?^{}]+(?:\.[a-z0-9_+\-'&=~#$*/?^{}]+)*$/i
const domainName = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)*(?!\d+$)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])$/

/** The address with its domain in lower-case ASCII, or undefined for what is none. */
export const parse = (text: string): string | undefined => {
  if (text.length > emailCharactersMax) return undefined
  const [local = "", domain, ...more] = text.split("@")
  if (domain === undefined || more.length > 0) return undefined
  if (local.length > localPartCharactersMax || !localPart.test(local) || !plainDomain.test(domain)) return undefined
  const ascii = domainToASCII(domain)
  return ascii.length <= domainCharactersMax && domainName.test(ascii) ? `${local}@${ascii}` : undefined
}

/** What uses of an address are counted under, however it is written; undefined for what is none. */
export const limitKey = (text: string): string | undefined => parse(text.trim())?.toLowerCase()

/** What a domain may look like before it is mapped: the mapping would make a dot or a slash of some characters. */
const plainDomain = /^[\p{L}\p{M}\p{Nd}.-]+$/u
