import { Option, Result } from "effect"
import type { HttpServerRequest } from "effect/http"
import { IpNetwork, NetAddress } from "effect/net"
import { unwrapped } from "../../services/outbound/AllowedAddresses.ts"

/** An IPv6 address counts as its /64, which one household or host has as a whole; one that holds an IPv4 address, as that. */
export const addressKey = (address: string): string => {
  // What most addresses are, and already as they count.
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

/** The address that a request counts for. */
export const addressOf = ({ remoteAddress }: Pick<HttpServerRequest.HttpServerRequest, "remoteAddress">): string =>
  addressKey(Option.getOrElse(remoteAddress, () => "unknown"))
