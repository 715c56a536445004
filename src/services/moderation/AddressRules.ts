import { Option, Result } from "effect"
import { IpNetwork, NetAddress } from "effect/net"
import { unwrapped } from "../outbound/AllowedAddresses.ts"

/** What an IP block keeps from its network, from the mildest to the strictest. */
export const ipBlockSeverities = ["sign_up_requires_approval", "sign_up_block", "no_access"] as const
export type IpBlockSeverity = typeof ipBlockSeverities[number]

/** A block as it is looked up; `expiresAt` in milliseconds since 1970. */
interface AddressRule {
  readonly severity: IpBlockSeverity
  readonly expiresAt: number
}

/** An address as a number of so many bits. */
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

/** An address without its zone; an IPv4 address inside an IPv6 address as IPv4. Undefined for other text. */
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

/** Bits of the part of an IPv6 address that says it holds one of IPv4. */
const mappedBits = 96

/**
 * The network that a text names, as Postgres writes it: an address alone is a network of one. Bits beyond the prefix are
 * zero, and IPv4 inside IPv6 is IPv4, so that one network has one name. Undefined for what is none.
 */
export const networkOf = (text: string): string | undefined => {
  const [, written = "", prefix] = /^([0-9a-f.:]{2,45})(?:\/(\d{1,3}))?$/i.exec(text) ?? []
  const given = Option.getOrUndefined(Result.getSuccess(NetAddress.ipFromString(written)))
  if (given === undefined) return undefined
  const width = NetAddress.width(given)
  const bits = prefix === undefined ? width : Number(prefix)
  const address: NetAddress.IpAddress = bits < mappedBits ? given : unwrapped(given)
  const inside = address === given || NetAddress.width(address) === width ? bits : bits - mappedBits
  return Option.getOrUndefined(
    Result.getSuccess(Result.map(IpNetwork.fromAddress(address, inside), (network) => IpNetwork.format(network)))
  )
}

/** Whether an address is in a network that `networkOf` gave. */
export const isInside = (network: string, address: string): boolean => {
  const found = addressOf(address)
  const known = Option.getOrUndefined(Result.getSuccess(IpNetwork.fromString(network)))
  return found !== undefined && known !== undefined && IpNetwork.contains(known, found)
}

/** Prefixes shorter than these are a large part of all addresses, in bits: no provider has an IPv4 /7 or an IPv6 /15. */
const broadBits = { 32: 8, 128: 16 } as const

/** True for a network from `networkOf` that is a large part of all addresses, as `0.0.0.0/0`. */
export const isBroad = (network: string): boolean => {
  const [written = "", prefix] = network.split("/")
  const address = addressOf(written)
  return address !== undefined && prefix !== undefined && Number(prefix) < broadBits[NetAddress.width(address)]
}

const rank = (severity: IpBlockSeverity) => ipBlockSeverities.indexOf(severity)

/** Blocks by their networks, so that a look costs one step for each length of a prefix, however many blocks there are. */
export class AddressRules {
  readonly #byPrefix = new Map<
    string,
    { readonly width: number; readonly shift: bigint; readonly rules: Map<bigint, AddressRule> }
  >()

  constructor(blocks: Iterable<AddressRule & { readonly network: string }>) {
    for (const { expiresAt, network, severity } of blocks) {
      // A row may have been written before addresses inside of `64:ff9b::/96` counted as IPv4.
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

  /** The strictest block of an address that stands at a time; undefined where there is none, or the text is no address. */
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
