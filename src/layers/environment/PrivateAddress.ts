import { Effect, Result } from "effect"
import { IpNetwork, NetAddress } from "effect/net"
import { lookup } from "node:dns/promises"
import { traced } from "../../services/runtime/Traced.ts"

/**
 * Shared address space of one provider's customers or a mesh network's members, not routed on the internet (RFC 6598).
 */
const shared = IpNetwork.fromStringUnsafe("100.64.0.0/10")

const isPrivateAddress = (address: NetAddress.IpAddress): boolean =>
  NetAddress.isLoopback(address) || NetAddress.isLinkLocal(address) ||
  (NetAddress.isIpv4Address(address)
    ? NetAddress.isPrivate(address) || IpNetwork.contains(shared, address)
    : NetAddress.isUniqueLocal(address))

/**
 * Returns errors about a host that must not be reachable from the internet: a public address, or a name that resolves
 * to one or to nothing. `0.0.0.0` and `::` include public addresses.
 */
export const refusePublicAddress = traced("PrivateAddress.refusePublicAddress")(function*(name: string, host: string) {
  const found = yield* Effect.result(Effect.tryPromise(() => lookup(host, { all: true })))
  if (Result.isFailure(found)) return [`${name}: the name ${host} leads to no address.`]
  return found.success.flatMap(({ address }) => {
    const parsed = NetAddress.ipFromString(address)
    return Result.isSuccess(parsed) && isPrivateAddress(parsed.success)
      ? []
      : [`${name}: ${address} is a public address; the cluster's port must be open to the other nodes only.`]
  })
})
