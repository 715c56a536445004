import { Schema } from "effect"
import { getPublicSuffix } from "tldts"
import { normalizeDomain } from "../federation/DomainNames.ts"

/** Domains that one list may name. */
export const listEntriesMax = 20_000

/** What a list says of a domain: in limited federation `accept` alone counts, else the other two. */
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

/** An entry that says nothing but what to do. */
export const plainEntry = (domain: string, action: ListAction): ListEntry => ({
  domain,
  action,
  rejectMedia: false,
  rejectReports: false,
  publicComment: null,
  obfuscate: false
})

/**
 * The domain that somebody's list names, as rules name it. Undefined for one that is no domain, of which asterisks hide a part,
 * which is a suffix under which everybody registers, or which this server is below.
 */
export const listedDomain = (text: string, localDomain: string): string | undefined => {
  const domain = text.includes("*") ? undefined : normalizeDomain(text.trim().replace(/^@/, "").replace(/\.$/, ""))
  if (domain === undefined || getPublicSuffix(domain) === domain) return undefined
  return localDomain === domain || localDomain.endsWith(`.${domain}`) ? undefined : domain
}
