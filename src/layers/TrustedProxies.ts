import { Result } from "effect"
import { IpNetwork, NetAddress } from "effect/net"

/** Returns true if a peer's address is one of the operator's proxies (`TRUSTED_PROXIES`). */
export const isTrustedProxy = (proxies: ReadonlyArray<IpNetwork.IpNetwork>, address: string | undefined): boolean => {
  const parsed = NetAddress.ipFromString(address ?? "")
  if (Result.isFailure(parsed)) return false
  const canonical = NetAddress.toCanonical(parsed.success)
  return proxies.some((network) => IpNetwork.contains(network, canonical))
}
