import { Clock, Effect, Result } from "effect"
import { IpNetwork, NetAddress } from "effect/net"
import { boundedMap } from "../BoundedMap.ts"
import { hashedKey } from "../HashedKey.ts"

/**
 * Looks at a key's origin in a minute that led to no signature which holds: those that requests from one address
 * caused (an IPv6 address is its /64), those of one IPv6 site (/48), and those that one host was asked for. A sender of
 * nonsense has us ask others this often, and no more. Addresses without a failed look have places at a host of their own.
 */
export const failedLooksMax = { address: 100, site: 300, host: 300, reserved: 100 } as const
/** Addresses and hosts that are remembered; beyond it the one that was not heard of for the longest time is forgotten. */
const rememberedMax = 20_000
const minuteMillis = 60_000
/** Bits of the network that one customer of an IPv6 provider has at most: 65,536 networks of one household each. */
const siteBits = 48

interface Count {
  readonly since: number
  count: number
}

/** Whose requests cause looks, and who is asked; an address is undefined where nobody knows it. */
interface Look {
  readonly address: string | undefined
  readonly host: string
}

/** Counts looks of the current minute; one that led to a signature which holds is taken back. */
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
    /** Takes a place for a look, which answers how to give it back, once; undefined where there is none in this minute. */
    take: ({ address, host }: Look): Effect.Effect<(() => void) | undefined> =>
      Effect.map(Clock.currentTimeMillis, (now) => {
        const taken = kinds.flatMap((kind) => {
          const name = { address, site: siteOf(address ?? ""), host }[kind]
          return name === undefined ? [] : [{ kind, count: countOf(kind, name, now) }]
        })
        // Stops at the first that refuses: a look that does not happen counts for nobody.
        const isNew = address !== undefined && taken.every(({ count, kind }) => kind === "host" || count.count === 0)
        const maxOf = (kind: typeof kinds[number]) =>
          failedLooksMax[kind] + (kind === "host" && isNew ? failedLooksMax.reserved : 0)
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
