import { Schema } from "effect"
import { domainToASCII } from "node:url"

/** Maximum characters (RFC 5321, 4.5.3.1; for the whole address Mastodon's limit). */
export const emailCharactersMax = 320
const localPartCharactersMax = 64
const domainCharactersMax = 253

/*
 * Accepts common addresses, not all of RFC 5322: no quotes, comments, routes, address literals or characters outside
 * ASCII in the local part. Those have been used to sign up repeatedly, or to bypass a domain block. A host without a
 * dot is one of the operator's own network.
 */
const localPart = /^[a-z0-9_+\-'&=~#$*/?^{}]+(?:\.[a-z0-9_+\-'&=~#$*/?^{}]+)*$/i
const domainName = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)*(?!\d+$)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])$/

/** Returns the canonical form: lower-case ASCII domain, local part as given. Returns undefined for invalid text. */
const normalOf = (text: string): string | undefined => {
  if (text.length > emailCharactersMax) return undefined
  const [local = "", domain, ...more] = text.split("@")
  if (domain === undefined || more.length > 0) return undefined
  if (local.length > localPartCharactersMax || !localPart.test(local) || !plainDomain.test(domain)) return undefined
  const ascii = domainToASCII(domain)
  return ascii.length <= domainCharactersMax && domainName.test(ascii) ? `${local}@${ascii}` : undefined
}

/** E-mail address in the canonical form that is checked, compared and stored. Made by `parse`, at the edge. */
export const EmailAddress = Schema.String.check(Schema.makeFilter((text) => normalOf(text) === text)).pipe(
  Schema.brand("EmailAddress")
)
export type EmailAddress = typeof EmailAddress.Type

/** Parses an address, ignoring spaces around it; undefined if it is invalid. */
export const parse = (text: string): EmailAddress | undefined => {
  const normal = normalOf(text.trim())
  return normal === undefined ? undefined : EmailAddress.make(normal)
}

/** Returns the domain of an address. */
export const domainOf = (email: EmailAddress): string => email.slice(email.lastIndexOf("@") + 1)

/** Returns the rate limit key of an address; undefined if it is invalid. */
export const limitKey = (text: string): string | undefined => parse(text)?.toLowerCase()

/** Allowed characters of a domain before IDNA mapping, which would turn some other characters into dots or slashes. */
const plainDomain = /^[\p{L}\p{M}\p{Nd}.-]+$/u
