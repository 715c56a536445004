import { Option, Result } from "effect"
import { IpNetwork, NetAddress } from "effect/net"
import { unwrapped } from "../outbound/AllowedAddresses.ts"

/** Severities of IP blocks, from mildest to strictest. */
export const ipBlockSeverities = ["sign_up_requires_approval", "sign_up_block", "no_access"] as const
export type IpBlockSeverity = typeof ipBlockSeverities[number]

/** An IP block in memory; `expiresAt` in milliseconds since 1970. */
interface AddressRule {
  readonly severity: IpBlockSeverity
  readonly expiresAt: number
}

/** An address as a number of `width` bits. */
interface Bits {
  readonly width: 32 | 128
  readonly value: bigint
}

const bitsOf = (address: NetAddress.IpAddress): Bits => {
  const octets = NetAddress.isIpv4Address(address) ? NetAddress.ipv4ToOctets(address) : NetAddress.ipv6ToOctets(address)
  return {
    width: NetAddress.width(address),
    value: octets.reduce<bigint>((value, octet) => (value << 8n) | BigInt(octet), 0n)
  }
}

/** Parses an address without its zone; an IPv4-mapped IPv6 address becomes IPv4. Undefined for other text. */
const addressOf = (text: string): NetAddress.IpAddress | undefined => {
  const zone = text.indexOf("%")
  return Option.getOrUndefined(
    Result.getSuccess(
      Result.map(
        NetAddress.ipFromString(zone === -1 ? text : text.slice(0, zone)),
        unwrapped
      )
    )
  )
}

/** Prefix bits of an IPv4-mapped IPv6 address. */
const mappedBits = 96

/**
 * Parses a network and returns it as Postgres writes it; a single address is a network of one. Bits beyond the prefix
 * are cleared, and IPv4 in IPv6 becomes IPv4, so that each network has one name. Returns undefined for invalid text.
 */
export const networkOf = (text: string): string | undefined => {
  const [, written = "", prefix] = /^([0-9a-f.:]{2,45})(?:\/(\d{1,3}))?$/i.exec(text) ?? []
  const given = Option.getOrUndefined(Result.getSuccess(NetAddress.ipFromString(written)))
  if (given === undefined) return undefined
  const width = NetAddress.width(given)
  const bits = prefix === undefined ? width : Number(prefix)
  const address: NetAddress.IpAddress = bits < mappedBits ? given : unwrapped(given)
  const prefixBits = address === given || NetAddress.width(address) === width ? bits : bits - mappedBits
  return Option.getOrUndefined(
    Result.getSuccess(Result.map(IpNetwork.fromAddress(address, prefixBits), (network) => IpNetwork.format(network)))
  )
}

/** Returns true if an address is in a network from `networkOf`. */
export const isInside = (network: string, address: string): boolean => {
  const found = addressOf(address)
  const known = Option.getOrUndefined(Result.getSuccess(IpNetwork.fromString(network)))
  return found !== undefined && known !== undefined && IpNetwork.contains(known, found)
}

/**
 * Prefixes shorter than these cover a large part of all addresses, in bits: no provider has an IPv4 /7 or an IPv6 /15.
 */
const broadBits = { 32: 8, 128: 16 } as const

/** Returns true if a network from `networkOf` covers a large part of all addresses, such as `0.0.0.0/0`. */
export const isBroad = (network: string): boolean => {
  const [written = "", prefix] = network.split("/")
  const address = addressOf(written)
  return address !== undefined && prefix !== undefined && Number(prefix) < broadBits[NetAddress.width(address)]
}

const rank = (severity: IpBlockSeverity) => ipBlockSeverities.indexOf(severity)

/** IP blocks indexed by network. A lookup costs one step per prefix length, regardless of the number of blocks. */
export class AddressRules {
  readonly #byPrefix = new Map<
    string,
    { readonly width: number; readonly shift: bigint; readonly rules: Map<bigint, AddressRule> }
  >()

  constructor(blocks: Iterable<AddressRule & { readonly network: string }>) {
    for (const { expiresAt, network, severity } of blocks) {
      // Older rows may not treat addresses in `64:ff9b::/96` as IPv4.
      const [written = "", prefix] = (networkOf(network) ?? network).split("/")
      const address = addressOf(written)
      if (address === undefined) continue
      const { value, width } = bitsOf(address)
      const bits = prefix === undefined ? width : Number(prefix)
      const key = `${width}/${bits}`
      const known = this.#byPrefix.get(key) ?? { width, shift: BigInt(width - bits), rules: new Map() }
      this.#byPrefix.set(key, known)
      known.rules.set(value >> known.shift, { severity, expiresAt })
    }
  }

  get isEmpty(): boolean {
    return this.#byPrefix.size === 0
  }

  /** Returns the strictest unexpired block of an address; undefined if it is not blocked or not an address. */
  find(text: string, nowMillis: number): IpBlockSeverity | undefined {
    if (this.isEmpty) return undefined
    const address = addressOf(text)
    if (address === undefined) return undefined
    const { value, width } = bitsOf(address)
    let worst: IpBlockSeverity | undefined
    for (const known of this.#byPrefix.values()) {
      if (known.width !== width) continue
      const rule = known.rules.get(value >> known.shift)
      if (rule === undefined || rule.expiresAt <= nowMillis) continue
      if (worst === undefined || rank(rule.severity) > rank(worst)) worst = rule.severity
    }
    return worst
  }
}
