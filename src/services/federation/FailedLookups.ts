import { Clock, Effect, Result } from "effect"
import { IpNetwork, NetAddress } from "effect/net"
import { boundedMap } from "../runtime/BoundedMap.ts"
import { hashedKey } from "../secrets/HashedKey.ts"

/**
 * Maximum look-ups per minute that led to no valid signature: by requester address (an IPv6 address is its /64), by
 * IPv6 site (/48), and by the host asked. This bounds the requests that a sender of nonsense can cause. `reserved` are
 * extra places per host for addresses without a failed look-up.
 */
export const failedLookupsMax = { address: 100, site: 300, host: 300, reserved: 100 } as const
/** Maximum remembered addresses and hosts; the least recently used one is evicted. */
const rememberedMax = 20_000
const minuteMillis = 60_000
/** Prefix length of the largest usual IPv6 network of one customer: 65,536 networks of /64. */
const siteBits = 48

interface Count {
  readonly since: number
  count: number
}

/** Requester that causes a look-up, and host that is asked. `address` is undefined if unknown. */
interface Look {
  readonly address: string | undefined
  readonly host: string
}

/** Counts look-ups of the current minute, except those that led to a valid signature. */
export const make = () => {
  const counts = {
    address: boundedMap<string, Count>(rememberedMax),
    site: boundedMap<string, Count>(rememberedMax),
    host: boundedMap<string, Count>(rememberedMax)
  }
  const kinds = ["address", "site", "host"] as const
  const countOf = (kind: typeof kinds[number], name: string, now: number): Count => {
    const key = hashedKey(name)
    const known = counts[kind].get(key)
    if (known !== undefined && now - known.since < minuteMillis && now >= known.since) return known
    const fresh = { since: now, count: 0 }
    counts[kind].set(key, fresh)
    return fresh
  }

  return {
    /** Counts a look-up. Returns a function that uncounts it, once; undefined if a limit is reached. */
    take: ({ address, host }: Look): Effect.Effect<(() => void) | undefined> =>
      Effect.map(Clock.currentTimeMillis, (now) => {
        const taken = kinds.flatMap((kind) => {
          const name = { address, site: siteOf(address ?? ""), host }[kind]
          return name === undefined ? [] : [{ kind, count: countOf(kind, name, now) }]
        })
        // Checks all limits before counting: a refused look-up counts nowhere.
        const isNew = address !== undefined && taken.every(({ count, kind }) => kind === "host" || count.count === 0)
        const maxOf = (kind: typeof kinds[number]) =>
          failedLookupsMax[kind] + (kind === "host" && isNew ? failedLookupsMax.reserved : 0)
        if (taken.some(({ count, kind }) => count.count >= maxOf(kind))) return undefined
        for (const { count } of taken) count.count++
        let given = false
        return () => {
          if (given) return
          given = true
          for (const { count } of taken) count.count--
        }
      })
  }
}

/** Returns the /48 of an IPv6 address or of its /64, as text; undefined for IPv4 and for other text. */
const siteOf = (address: string): string | undefined => {
  if (!address.includes(":")) return undefined
  const [written = ""] = address.split("/")
  return Result.getOrUndefined(
    Result.map(
      Result.flatMap(NetAddress.ipv6FromString(written), (found) => IpNetwork.fromAddress(found, siteBits)),
      IpNetwork.format
    )
  )
}
