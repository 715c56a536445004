import { Result } from "effect"
import { IpNetwork, NetAddress } from "effect/net"

/** Returns whether the address of a connection's peer is a proxy of the operator (`TRUSTED_PROXIES`). */
export const isTrustedProxy = (proxies: ReadonlyArray<IpNetwork.IpNetwork>, address: string | undefined): boolean => {
  const parsed = NetAddress.ipFromString(address ?? "")
  if (Result.isFailure(parsed)) return false
  const canonical = NetAddress.toCanonical(parsed.success)
  return proxies.some((network) => IpNetwork.contains(network, canonical))
}
