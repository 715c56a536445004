import { getDomain } from "tldts"

/** The part of a host's name that somebody registered, by the list of public suffixes; an address is a site of its own. */
export const siteOf = (hostname: string): string => getDomain(hostname, { allowPrivateDomains: true }) ?? hostname
