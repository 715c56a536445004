import { Clock, Effect } from "effect"
import { boundedMap } from "../runtime/BoundedMap.ts"

/** Maximum new hosts per minute below one registrable domain (federation.md section 3, safety row 34). */
export const newHostsPerMinuteMax = 10
/** Maximum remembered hosts and domains (row 37). */
const hostsMax = 20_000
const minuteMillis = 60_000

/**
 * Returns the registrable part of a host name, estimated without public suffixes: two labels, or three below a short
 * second one (`example.co.uk`). A wrong guess only makes names share a limit.
 */
export const registrable = (hostname: string): string => {
  if (/^[\d.]+$|^\[/.test(hostname)) return hostname
  const labels = hostname.split(".")
  const short = labels.length > 2 && (labels.at(-2) ?? "").length <= 3 && (labels.at(-1) ?? "").length <= 3
  return labels.slice(short ? -3 : -2).join(".")
}

/** Limits how fast one domain can introduce hosts with accounts: a DNS wildcard costs its owner nothing. */
export const make = () => {
  const known = boundedMap<string, true>(hostsMax)
  const domains = boundedMap<string, { readonly since: number; count: number }>(hostsMax)

  /** Returns true if the host is known or may be introduced now. */
  const admit = (host: string): Effect.Effect<boolean> =>
    Effect.map(Clock.currentTimeMillis, (now) => {
      if (known.get(host) !== undefined) return true
      const domain = registrable(host)
      const before = domains.get(domain)
      const current = before === undefined || now - before.since >= minuteMillis || now < before.since
        ? { since: now, count: 0 }
        : before
      if (current.count >= newHostsPerMinuteMax) return false
      current.count++
      domains.set(domain, current)
      known.set(host, true)
      return true
    })
  return { admit }
}
