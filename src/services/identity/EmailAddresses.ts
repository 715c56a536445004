import { Schema } from "effect"
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

/** The one spelling of an address: its domain in lower-case ASCII, its local part as given; undefined for other text. */
const normalOf = (text: string): string | undefined => {
  if (text.length > emailCharactersMax) return undefined
  const [local = "", domain, ...more] = text.split("@")
  if (domain === undefined || more.length > 0) return undefined
  if (local.length > localPartCharactersMax || !localPart.test(local) || !plainDomain.test(domain)) return undefined
  const ascii = domainToASCII(domain)
  return ascii.length <= domainCharactersMax && domainName.test(ascii) ? `${local}@${ascii}` : undefined
}

/** E-mail address in the spelling in which it is judged, compared and stored. `parse` makes it, at the edge. */
export const EmailAddress = Schema.String.check(Schema.makeFilter((text) => normalOf(text) === text)).pipe(
  Schema.brand("EmailAddress")
)
export type EmailAddress = typeof EmailAddress.Type

/** Reads an address as written, spaces around it aside; undefined where the text is none. */
export const parse = (text: string): EmailAddress | undefined => {
  const normal = normalOf(text.trim())
  return normal === undefined ? undefined : EmailAddress.make(normal)
}

/** Domain of an address. */
export const domainOf = (email: EmailAddress): string => email.slice(email.lastIndexOf("@") + 1)

/** Key under which uses of an address are counted; undefined where the text is no address. */
export const limitKey = (text: string): string | undefined => parse(text)?.toLowerCase()

/** What a domain may look like before it is mapped: the mapping would make a dot or a slash of some characters. */
const plainDomain = /^[\p{L}\p{M}\p{Nd}.-]+$/u
