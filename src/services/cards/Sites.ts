import { getDomain } from "tldts"

/** Returns the registrable domain of a host, by the public suffix list; an IP address is a site of its own. */
export const registrableDomain = (hostname: string): string =>
  getDomain(hostname, { allowPrivateDomains: true }) ?? hostname
