import { Result } from "effect"
import type { IpNetwork } from "effect/net"
import { mayConnect } from "./AllowedAddresses.ts"
import { Refused } from "./OutboundError.ts"

/** Maximum characters of a requested URL. */
export const urlCharactersMax = 4_096

/** Ports of other protocols that must not receive HTTP (the Fetch standard's bad ports). */
const badPorts = new Set([
  [0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109],
  [110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526, 530, 531],
  [532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060],
  [5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080]
].flat())

const isAddress = (hostname: string) => hostname.startsWith("[") || /^[0-9.]+$/.test(hostname)

/**
 * Returns true if `http` may be requested: for an allowed address, or for a name. A name's address is checked when it
 * is connected to.
 */
const mayBePlain = (allowed: ReadonlyArray<IpNetwork.IpNetwork>, hostname: string) => {
  if (allowed.length === 0) return false
  if (hostname === "localhost") return mayConnect(allowed, "127.0.0.1", false) || mayConnect(allowed, "::1", false)
  return !isAddress(hostname) || mayConnect(allowed, hostname.replaceAll(/^\[|\]$/g, ""), false)
}

/** Returns true for a literal local host or address that may not be connected to even with TLS. */
const isPrivate = (allowed: ReadonlyArray<IpNetwork.IpNetwork>, hostname: string) =>
  hostname === "localhost" || hostname.endsWith(".localhost")
    ? !mayConnect(allowed, "127.0.0.1", true) && !mayConnect(allowed, "::1", true)
    : isAddress(hostname) && !mayConnect(allowed, hostname.replaceAll(/^\[|\]$/g, ""), true)

/**
 * Returns the URL to request, without its fragment. It is `https` (`http` only if `OUTBOUND_ALLOW` allows it), without
 * user info, a port of another protocol, a trailing dot or a private address; fails with `Refused` otherwise. The
 * addresses of a name are checked when it is connected to.
 */
export const destination = (
  allowed: ReadonlyArray<IpNetwork.IpNetwork>,
  text: string,
  base?: URL
): Result.Result<URL, Refused> => {
  const refused = (rule: Refused["rule"]) => Result.fail(new Refused({ url: text.slice(0, urlCharactersMax), rule }))
  if (text.length > urlCharactersMax) return refused("size")
  const url = URL.parse(text, base?.href)
  if (url === null) return refused("host")
  if (url.protocol !== "https:" && !(url.protocol === "http:" && mayBePlain(allowed, url.hostname))) {
    return refused("scheme")
  }
  if (url.username !== "" || url.password !== "") return refused("userinfo")
  if (url.hostname === "" || url.hostname.endsWith(".")) return refused("host")
  if (isPrivate(allowed, url.hostname)) return refused("address")
  if (url.port !== "" && badPorts.has(Number(url.port))) return refused("port")
  url.hash = ""
  return Result.succeed(url)
}
