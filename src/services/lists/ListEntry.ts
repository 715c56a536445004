import { Schema } from "effect"
import { getPublicSuffix } from "tldts"
import { normalizeDomain } from "../federation/DomainNames.ts"

/** Maximum domains in a list. */
export const listEntriesMax = 20_000

/** Action of a list on a domain: in limited federation only `accept` counts, otherwise only the other two. */
export const ListAction = Schema.Literals(["accept", "limit", "reject"])
export type ListAction = typeof ListAction.Type

export const ListEntry = Schema.Struct({
  domain: Schema.String,
  action: ListAction,
  rejectMedia: Schema.Boolean,
  rejectReports: Schema.Boolean,
  publicComment: Schema.NullOr(Schema.String),
  obfuscate: Schema.Boolean
})
export type ListEntry = typeof ListEntry.Type

/** Returns an entry without details. */
export const plainEntry = (domain: string, action: ListAction): ListEntry => ({
  domain,
  action,
  rejectMedia: false,
  rejectReports: false,
  publicComment: null,
  obfuscate: false
})

/**
 * Returns a listed domain, normalised. Undefined for text that is not a domain, a domain obfuscated with asterisks, a
 * public suffix, or a domain that includes this server.
 */
export const listedDomain = (text: string, localDomain: string): string | undefined => {
  const domain = text.includes("*") ? undefined : normalizeDomain(text.trim().replace(/^@/, "").replace(/\.$/, ""))
  if (domain === undefined || getPublicSuffix(domain) === domain) return undefined
  return localDomain === domain || localDomain.endsWith(`.${domain}`) ? undefined : domain
}
