import { Clock, Effect } from "effect"
import { boundedMap } from "../BoundedMap.ts"

/** Hosts below one registrable domain that we begin to know in one minute (federation.md section 3, safety row 34). */
export const newHostsPerMinuteMax = 10
/** Hosts and domains that are remembered (row 37). */
const hostsMax = 20_000
const minuteMillis = 60_000

/**
 * The part of a name that somebody registers, as far as it is told without public suffixes: two labels, or three below
 * a short second one (`example.co.uk`). Names that are wrongly put together share a limit, no more.
 */
export const registrable = (hostname: string): string => {
  if (/^[\d.]+$|^\[/.test(hostname)) return hostname
  const labels = hostname.split(".")
  const short = labels.length > 2 && (labels.at(-2) ?? "").length <= 3 && (labels.at(-1) ?? "").length <= 3
  return labels.slice(short ? -3 : -2).join(".")
}

/** Bounds how fast one domain can make up hosts with accounts on them: a wildcard in the DNS costs its owner nothing. */
export const make = () => {
  const known = boundedMap<string, true>(hostsMax)
  const domains = boundedMap<string, { readonly since: number; count: number }>(hostsMax)

  /** Whether a host may be begun with; one that was, may be again. */
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
