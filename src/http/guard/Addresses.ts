import { Option } from "effect"
import type { HttpServerRequest } from "effect/http"

/** An IPv6 address counts as its /64, which one household or host has as a whole. */
export const addressKey = (address: string): string => {
  if (!address.includes(":")) return address
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)
  if (mapped?.[1] !== undefined) return mapped[1]
  const [head = "", tail] = address.split("::")
  const left = head === "" ? [] : head.split(":")
  const right = tail === undefined || tail === "" ? [] : tail.split(":")
  const zeros = Math.max(0, 8 - left.length - right.length)
  const groups = tail === undefined ? left : [...left, ...Array(zeros).fill("0"), ...right]
  return groups.slice(0, 4).map((group) => group.toLowerCase().replace(/^0+(?=.)/, "")).join(":") + "::/64"
}

/** The address that a request counts for. */
export const addressOf = ({ remoteAddress }: Pick<HttpServerRequest.HttpServerRequest, "remoteAddress">): string =>
  addressKey(Option.getOrElse(remoteAddress, () => "unknown"))
