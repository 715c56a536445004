import { Result } from "effect"
import { IpNetwork, NetAddress } from "effect/net"

const table = (...networks: ReadonlyArray<string>) => networks.map((network) => IpNetwork.fromStringUnsafe(network))

/** IANA's registry of special-purpose IPv4 addresses as of 2026-11, multicast and class E; 6to4 relays are retired. */
const specialV4 = table(
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.31.196.0/24",
  "192.52.193.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "192.175.48.0/24",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/4",
  "240.0.0.0/4"
)

/** Range of public unicast addresses; all others are loopback, private, link-local, multicast or unassigned. */
const globalV6 = table("2000::/3")

/** IANA's special-purpose addresses inside `2000::/3` as of 2026-11; 6to4 and Teredo embed unchecked IPv4 addresses. */
const specialV6 = table("2001::/23", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20")

/** IPv4 through the network's own translator (RFC 6052), which connects to the embedded address. */
const translated = table("64:ff9b::/96")
const mapped = table("::ffff:0:0/96")

const within = (networks: ReadonlyArray<IpNetwork.IpNetwork>, address: NetAddress.IpAddress) =>
  networks.some((network) => IpNetwork.contains(network, address))

/** Returns the IPv4 address embedded in an IPv6 address (mapped, or RFC 6052), otherwise the address itself. */
export const unwrapped = (address: NetAddress.IpAddress): NetAddress.IpAddress => {
  if (NetAddress.isIpv4Address(address) || !(within(mapped, address) || within(translated, address))) return address
  const [, , , , , , high, low] = NetAddress.ipv6ToSegments(address)
  return NetAddress.ipv4FromBytesUnsafe(Uint8Array.of(high >> 8, high & 255, low >> 8, low & 255))
}

/** Returns true for a public address: not special-purpose, private or unassigned. */
const isPublic = (address: NetAddress.IpAddress): boolean => {
  const real = unwrapped(address)
  return NetAddress.isIpv4Address(real)
    ? !within(specialV4, real)
    : within(globalV6, real) && !within(specialV6, real)
}

/**
 * Returns true if an address (as text) may be connected to: public ones with TLS, those in `OUTBOUND_ALLOW` also
 * without.
 */
export const mayConnect = (
  allowed: ReadonlyArray<IpNetwork.IpNetwork>,
  address: string,
  secure: boolean
): boolean => {
  const parsed = NetAddress.ipFromString(address)
  if (Result.isFailure(parsed)) return false
  return within(allowed, unwrapped(parsed.success)) || (secure && isPublic(parsed.success))
}
