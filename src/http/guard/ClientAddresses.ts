import { Option, Result } from "effect"
import type { HttpServerRequest } from "effect/http"
import { IpNetwork, NetAddress } from "effect/net"
import { unwrapped } from "../../services/outbound/AllowedAddresses.ts"

/**
 * Returns the key that an address is counted by: an IPv6 address by its /64, which belongs to one household or host; an
 * IPv4-mapped one as IPv4.
 */
export const addressKey = (address: string): string => {
  // Most addresses are IPv4 and need no change.
  if (!address.includes(":")) return address
  const zone = address.indexOf("%")
  return NetAddress.ipv6FromString(zone === -1 ? address : address.slice(0, zone)).pipe(
    Result.map(unwrapped),
    Result.flatMap((found) =>
      NetAddress.isIpv4Address(found)
        ? Result.succeed(NetAddress.formatIp(found))
        : Result.map(IpNetwork.fromAddress(found, 64), IpNetwork.format)
    ),
    Result.getOrElse(() => address)
  )
}

/** Returns the address that a request is counted by. */
export const addressOf = ({ remoteAddress }: Pick<HttpServerRequest.HttpServerRequest, "remoteAddress">): string =>
  addressKey(Option.getOrElse(remoteAddress, () => "unknown"))
